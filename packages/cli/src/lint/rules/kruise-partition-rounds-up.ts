/** Finds percentages that never release a pod. */
import { isPercent } from "../fields.ts";
import { partitionOf, replicasOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionRoundsUp = defineRule({
  id: "kruise-partition-rounds-up",
  severity: "warning",
  summary: "a percentage of one pod holds that pod back forever",
  why:
    "OpenKruise rounds the number of held-back pods up. For a single pod any percentage is one pod, and the " +
    "rule that at least one is updated applies only to more than one replica: nothing is ever updated.",
  fix: "Use `partition: 0` and `1`, or omit it, for a workload with one replica.",
  *check({ of }) {
    for (const manifest of of(...REPLICATED)) {
      const partition = partitionOf(manifest);
      if (
        partition &&
        isPercent(partition.value) &&
        Number.parseFloat(partition.value) > 0 &&
        partition.value !== "100%" &&
        replicasOf(manifest) === 1
      )
        yield { manifest, path: partition.path, message: `${partition.value} of one replica is that replica` };
    }
  },
});
