/** Finds partitions in percent that every cluster rounds separately. */
import { isPercent, shown } from "../fields.ts";
import { copiedToSeveral, copyText, partitionOf, PARTITIONED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePartitionPercent = defineRule({
  id: "kruise-partition-percent",
  severity: "warning",
  summary: "a partition in percent is rounded in every cluster",
  why: "Each cluster rounds its own share up and still updates at least one pod: 90 % of clusters with 3, 3 and 4 pods updates three pods, not one.",
  fix:
    "Propagate it with a PropagationPolicy with `replicaSchedulingType: Divided`: Flotilla then counts the " +
    "partition once for the fleet. If every cluster should have its own rollout, state it with the " +
    "annotation `flotilla.dev/partition-scope: cluster`.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const partition = partitionOf(manifest);
      const propagation =
        isPercent(partition?.value) && partition.value !== "100%" && partition.value !== "0%"
          ? copiedToSeveral(fleet, manifest)
          : undefined;
      if (partition && propagation)
        yield {
          manifest,
          path: partition.path,
          message: `${copyText(propagation)}, and each takes ${shown(partition.value)} of its own pods`,
        };
    }
  },
});
