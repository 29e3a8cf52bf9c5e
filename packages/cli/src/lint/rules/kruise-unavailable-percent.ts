/** Finds budgets in percent that every cluster rounds separately. */
import { isPercent, shown } from "../fields.ts";
import { copiedToSeveral, copyText, PARTITIONED, strategyField } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseUnavailablePercent = defineRule({
  id: "kruise-unavailable-percent",
  severity: "warning",
  summary: "`maxUnavailable` in percent is rounded in every cluster",
  why: "Each cluster rounds its own share up: 20 % of ten pods over clusters of 3, 3 and 4 allows three pods to be down at once, not two.",
  fix:
    "Divide the workload with a PropagationPolicy: the budget is then divided, too. Otherwise set an absolute " +
    "number for each cluster with an OverridePolicy.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const budget = strategyField(manifest, "maxUnavailable");
      const propagation = isPercent(budget?.value) ? copiedToSeveral(fleet, manifest) : undefined;
      if (budget && propagation)
        yield {
          manifest,
          path: budget.path,
          message: `${copyText(propagation)}, and each allows ${shown(budget.value)} of its own pods to be down`,
        };
    }
  },
});
