/** A percentage where OpenKruise takes a number alone. */
import { ADVANCED_STATEFUL_SET, partitionOf } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseStatefulsetPartition = defineRule({
  id: "kruise-statefulset-partition",
  severity: "error",
  summary: "the partition of an Advanced StatefulSet is no percentage",
  why: "It counts the lowest ordinals that are kept, and is a whole number; a percentage is refused.",
  fix: "Write the number of pods that stay: ordinals from that number on are updated.",
  *check({ of }) {
    for (const manifest of of(ADVANCED_STATEFUL_SET)) {
      const partition = partitionOf(manifest);
      if (typeof partition?.value === "string")
        yield { manifest, path: partition.path, message: `partition is ${JSON.stringify(partition.value)}` };
    }
  },
});
