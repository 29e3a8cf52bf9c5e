/** A percentage that never lets a pod through. */
import { isPercent } from "../fields.ts";
import { partitionOf, replicasOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionRoundsUp = defineRule({
  id: "kruise-partition-rounds-up",
  severity: "warning",
  summary: "a percentage of one pod keeps that pod for ever",
  why: "OpenKruise rounds the pods that stay up. Of a single pod any percentage is one pod, and the rule that at least one is updated holds for more than one replica only: nothing is ever updated.",
  fix: "Use `partition: 0` and `1`, or leave it out, for a workload with one replica.",
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
