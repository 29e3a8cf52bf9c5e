/** Finds subset numbers that do not match the replicas of a cluster. */
import { isPercent, itemsAt, numberAt, textAt, valueAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import { countsPerCluster } from "../lint-fleet.ts";
import type { LintFleet } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { UNITED_DEPLOYMENT } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseSubsetCounts = defineRule({
  id: "kruise-subset-counts",
  severity: "error",
  summary: "subsets of a UnitedDeployment do not match its replicas",
  why:
    "OpenKruise's webhook rejects subsets whose numbers exceed the replicas, or percentages of more than " +
    "100. In a cluster that has a part of the replicas, numbers that were written for all of them are too " +
    "large; percentages are rounded there again.",
  fix:
    "Let Flotilla divide the subsets (remove `flotilla.dev/partition-scope: cluster` and overrides of " +
    "`/spec/replicas`), and leave one subset without a number.",
  *check(fleet) {
    for (const manifest of fleet.of(UNITED_DEPLOYMENT)) {
      const subsets = [
        ...itemsAt(manifest.object, "spec", "topology", "subsets"),
        ...itemsAt(manifest.object, "spec", "topology", "pools"),
      ];
      const path: FieldPath = ["spec", "topology"];
      const counts = subsets.flatMap(({ item }) => numberAt(item, "replicas") ?? []);
      const sum = counts.reduce((total, count) => total + count, 0);
      const replicas = numberAt(manifest.object, "spec", "replicas");
      if (replicas !== undefined && sum > replicas)
        yield { manifest, path, message: `the subsets have ${sum} replicas, but the workload has ${replicas}` };
      else if (counts.length > 0) {
        const undivided = undividedBy(fleet, manifest);
        if (undivided !== undefined)
          yield { manifest, path, message: `${undivided}, and the numbers of its subsets are not divided` };
      }
      const percents = subsets.flatMap(({ item }) =>
        isPercent(valueAt(item, "replicas")) ? Number.parseFloat(textAt(item, "replicas")) : [],
      );
      const total = percents.reduce((all, percent) => all + percent, 0);
      if (total > 100 || (percents.length === subsets.length && percents.length > 0 && total !== 100))
        yield { manifest, path, message: `the subsets add up to ${total} %` };
    }
  },
});

/** What changes a cluster's replicas without dividing the subsets. */
function undividedBy(fleet: LintFleet, manifest: LintManifest): string | undefined {
  if (countsPerCluster(manifest) && fleet.propagationsOf(manifest).some(({ how }) => how === "divided"))
    return "its replicas are divided over clusters";
  const override = fleet.overrides.find(
    (policy) =>
      fleet.selectedBy(policy).some((selected) => selected.manifest === manifest) &&
      JSON.stringify(policy.object["spec"] ?? {}).includes('"/spec/replicas"'),
  );
  return override && `${override.title} sets its replicas`;
}
