/** Finds subset limits that count in every cluster. */
import { isPercent, itemsAt, shown, textAt, valueAt } from "../fields.ts";
import { copyText, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseWorkloadSpread = defineRule({
  id: "kruise-workload-spread",
  severity: "warning",
  summary: "the subsets of a WorkloadSpread apply to each cluster separately",
  why: "Each cluster spreads its own pods: `maxReplicas: 3` allows three pods per cluster, and percentages are rounded up in each and must be 100 there.",
  fix: "Set numbers for each cluster with an OverridePolicy, or spread over clusters with weights of the PropagationPolicy.",
  *check(fleet) {
    for (const manifest of fleet.of("apps.kruise.io/WorkloadSpread")) {
      const limited = itemsAt(manifest.object, "spec", "subsets").filter(
        ({ item }) => valueAt(item, "maxReplicas") !== undefined,
      );
      const percents = limited.filter(({ item }) => isPercent(valueAt(item, "maxReplicas")));
      const sum = percents.reduce((total, { item }) => total + Number.parseFloat(textAt(item, "maxReplicas")), 0);
      if (percents.length > 0 && percents.length === itemsAt(manifest.object, "spec", "subsets").length && sum !== 100)
        yield {
          manifest,
          path: ["spec", "subsets"],
          severity: "error",
          message: `the subsets add up to ${sum} %, not 100`,
        };
      const propagation = limited.length > 0 ? severalPropagation(fleet, manifest) : undefined;
      if (propagation)
        yield {
          manifest,
          path: limited[0]?.path ?? [],
          message: `${copyText(propagation)}, and each allows ${shown(valueAt(limited[0]?.item, "maxReplicas"))}`,
        };
    }
  },
});
