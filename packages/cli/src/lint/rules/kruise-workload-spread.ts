/** Finds subset limits that count in every cluster. */
import { isPercent, itemsAt, shown, textAt, valueAt } from "../fields.ts";
import { copyText, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseWorkloadSpread = defineRule({
  id: "kruise-workload-spread",
  severity: "warning",
  summary: "the subsets of a WorkloadSpread apply to each cluster separately",
  why:
    "Each cluster spreads its own pods: `maxReplicas: 3` allows three pods per cluster. Percentages are of the " +
    "pods of each cluster, and must add up to 100.",
  fix: "Write percentages, set numbers for each cluster with an OverridePolicy, or spread over clusters with weights of the PropagationPolicy.",
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
      const numbers = limited.filter((subset) => !percents.includes(subset));
      const propagation = numbers.length > 0 ? severalPropagation(fleet, manifest) : undefined;
      if (propagation)
        yield {
          manifest,
          path: numbers[0]?.path ?? [],
          message: `${copyText(propagation)}, and each allows ${shown(valueAt(numbers[0]?.item, "maxReplicas"))}`,
        };
    }
  },
});
