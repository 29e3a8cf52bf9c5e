/** Finds partitions that are raised to roll back. */
import { equalJson } from "@flotilla/base";
import { shown, valueAt } from "../fields.ts";
import type { LintFleet } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { partitionOf, PARTITIONED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";
import { successorsIn } from "../successors.ts";

export const kruisePartitionRaised = defineRule({
  id: "kruise-partition-raised",
  severity: "warning",
  summary: "raising a partition does not roll pods back",
  why:
    "OpenKruise updates pods when a partition is lowered and leaves them when it is raised (unless its gate " +
    "CloneSetPartitionRollback is on); pods that are added later get the old revision. Flotilla rolls pods " +
    "back only for a CloneSet that a policy divides.",
  fix: "Roll back by applying the old template together with `partition: 0`.",
  *check(fleet) {
    for (const [before, next] of successorsIn(fleet.of(...PARTITIONED))) {
      const [from, to] = [pods(before), pods(next)];
      const isRaised =
        from !== undefined &&
        to !== undefined &&
        to > from &&
        equalJson(valueAt(before.object, "spec", "template"), valueAt(next.object, "spec", "template"));
      if (isRaised && !rollsPodsBack(fleet, next))
        yield {
          manifest: next,
          path: partitionOf(next)?.path ?? [],
          message: `the partition is raised from ${shown(partitionOf(before)?.value)} to ${shown(partitionOf(next)?.value)} with the same template`,
        };
    }
  },
});

const rollsPodsBack = (fleet: LintFleet, manifest: LintManifest): boolean =>
  manifest.kind === "CloneSet" && fleet.propagationsOf(manifest).some(({ how }) => how === "divided");

/** Of a hundred; numbers and percentages are not compared with each other. */
function pods(manifest: LintManifest): number | undefined {
  const value = partitionOf(manifest)?.value ?? 0;
  return typeof value === "number" ? value : typeof value === "string" ? Number.parseFloat(value) : undefined;
}
