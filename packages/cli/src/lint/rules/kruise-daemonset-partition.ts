/** Finds DaemonSet partitions in percent, which every cluster rounds down. */
import { isPercent, shown } from "../fields.ts";
import { ADVANCED_DAEMON_SET, copyText, partitionOf, severalPropagation } from "../rollouts.ts";
import { countsPerCluster } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const kruiseDaemonsetPartition = defineRule({
  id: "kruise-daemonset-partition",
  severity: "warning",
  summary: "the partition of an Advanced DaemonSet counts nodes, and percentages are rounded down",
  why: "Unlike for a CloneSet, a percentage is rounded down in each cluster: 50 % of a cluster with one node is none, so all nodes are updated at once.",
  fix:
    "Propagate it with a PropagationPolicy, which divides the partition by the nodes that members report, " +
    "without `flotilla.dev/partition-scope: cluster`; or write a number of nodes.",
  *check(fleet) {
    for (const manifest of fleet.of(ADVANCED_DAEMON_SET)) {
      const partition = partitionOf(manifest);
      const propagation = isPercent(partition?.value) ? severalPropagation(fleet, manifest) : undefined;
      if (partition && propagation && (manifest.inside || countsPerCluster(manifest)))
        yield {
          manifest,
          path: partition.path,
          message: `${copyText(propagation)}, and each holds back ${shown(partition.value)} of its nodes, rounded down`,
        };
    }
  },
});
