/** A number of pods where "all of them" is meant. */
import { partitionOf, replicasOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionHold = defineRule({
  id: "kruise-partition-hold",
  severity: "warning",
  summary: 'a release is held with a number instead of "100%"',
  why: "A partition that is as large as the replicas keeps every pod, until the workload grows: pods beyond the number are then created at the new revision.",
  fix: 'Write `partition: "100%"` to hold a release whatever the number of replicas.',
  *check({ of }) {
    for (const manifest of of(...REPLICATED)) {
      // An Advanced StatefulSet takes no percentage; there a large number is the way to hold it.
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
          message: `partition ${partition.value} keeps ${replicasOf(manifest)} of ${replicasOf(manifest)} pods, but not the next one`,
        };
    }
  },
});
