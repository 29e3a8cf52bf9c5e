/** Finds partitions in pods that apply to every cluster separately. */
import { shown } from "../fields.ts";
import { copiedToSeveral, copyText, keepsSome, partitionOf, PARTITIONED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionCount = defineRule({
  id: "kruise-partition-count",
  severity: "warning",
  summary: "a partition in pods applies to each cluster separately",
  why:
    "Each cluster holds back that many of its own pods: with `partition: 5` clusters of 3, 3 and 4 pods update " +
    "nothing, and two clusters of 10 update ten pods, not five.",
  fix:
    "Propagate it with a PropagationPolicy with `replicaSchedulingType: Divided`, so that the partition " +
    "applies to the whole fleet; or state with the annotation `flotilla.dev/partition-scope: cluster` that " +
    "it applies to each cluster.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const partition = partitionOf(manifest);
      const propagation =
        typeof partition?.value === "number" && keepsSome(partition) ? copiedToSeveral(fleet, manifest) : undefined;
      if (partition && propagation)
        yield {
          manifest,
          path: partition.path,
          message: `${copyText(propagation)}, and each holds back ${shown(partition.value)} pods`,
        };
    }
  },
});
