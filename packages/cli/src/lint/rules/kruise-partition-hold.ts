/** Finds partitions with a number of pods where "100%" is intended. */
import { partitionOf, replicasOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionHold = defineRule({
  id: "kruise-partition-hold",
  severity: "warning",
  summary: 'a release is held with a number instead of "100%"',
  why: "A partition as large as the replicas holds back every pod, until the workload grows: pods beyond the number are then created at the new revision.",
  fix: 'Write `partition: "100%"` to hold a release at any replica count.',
  *check({ of }) {
    for (const manifest of of(...REPLICATED)) {
      // An Advanced StatefulSet accepts no percentage; a large number is the only option there.
      const partition = manifest.kind === "StatefulSet" ? undefined : partitionOf(manifest);
      if (
        partition &&
        typeof partition.value === "number" &&
        partition.value > 0 &&
        partition.value === replicasOf(manifest)
      )
        yield {
          manifest,
          path: partition.path,
          message: `partition ${partition.value} holds back ${replicasOf(manifest)} of ${replicasOf(manifest)} pods, but not the next one`,
        };
    }
  },
});
