/** Finds budgets that apply in full to every cluster. */
import { shown, valueAt } from "../fields.ts";
import { copyText, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

const KINDS = ["policy.kruise.io/PodUnavailableBudget", "policy/PodDisruptionBudget"];

export const kruiseBudgetPerCluster = defineRule({
  id: "kruise-budget-per-cluster",
  severity: "warning",
  summary: "a budget for unavailable pods applies to each cluster separately",
  why:
    "Every cluster has the whole budget: with `maxUnavailable: 1` in three clusters three pods may be down at " +
    "once, and with a fleet-wide `minAvailable` no cluster may lose any.",
  fix: "Set each cluster's part with an OverridePolicy, or use percentages if a share of each cluster is intended.",
  *check(fleet) {
    for (const manifest of fleet.of(...KINDS)) {
      const field = ["maxUnavailable", "minAvailable"].find(
        (name) =>
          typeof valueAt(manifest.object, "spec", name) === "number" && valueAt(manifest.object, "spec", name) !== 0,
      );
      const isOverridden = fleet.overrides.some((policy) =>
        fleet.selectedBy(policy).some((selected) => selected.manifest === manifest),
      );
      const propagation = field === undefined || isOverridden ? undefined : severalPropagation(fleet, manifest);
      if (field !== undefined && propagation)
        yield {
          manifest,
          path: ["spec", field],
          message: `${copyText(propagation)}, and ${field} ${shown(valueAt(manifest.object, "spec", field))} applies in each`,
        };
    }
  },
});
