/** Finds percentages where OpenKruise accepts only a number. */
import { ADVANCED_STATEFUL_SET, partitionOf } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseStatefulsetPartition = defineRule({
  id: "kruise-statefulset-partition",
  severity: "error",
  summary: "the partition of an Advanced StatefulSet must not be a percentage",
  why: "It counts the lowest ordinals that are held back, and must be an integer; a percentage is rejected.",
  fix: "Write the number of pods to hold back: ordinals from that number on are updated.",
  *check({ of }) {
    for (const manifest of of(ADVANCED_STATEFUL_SET)) {
      const partition = partitionOf(manifest);
      if (typeof partition?.value === "string")
        yield { manifest, path: partition.path, message: `partition is ${JSON.stringify(partition.value)}` };
    }
  },
});
