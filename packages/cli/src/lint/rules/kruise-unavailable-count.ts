/** Finds budgets in pods that apply in full to every cluster. */
import { shown } from "../fields.ts";
import { copiedToSeveral, copyText, PARTITIONED, strategyField } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseUnavailableCount = defineRule({
  id: "kruise-unavailable-count",
  severity: "warning",
  summary: "`maxUnavailable` in pods applies to each cluster separately",
  why: "Each cluster takes the whole budget: with `maxUnavailable: 1` as many pods are down at once as there are clusters.",
  fix:
    "Divide the workload with a PropagationPolicy: the budget is then divided, too. If each cluster may lose " +
    "that many, state it with the annotation `flotilla.dev/partition-scope: cluster`.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const budget = strategyField(manifest, "maxUnavailable");
      const propagation =
        typeof budget?.value === "number" && budget.value > 0 ? copiedToSeveral(fleet, manifest) : undefined;
      if (budget && propagation)
        yield {
          manifest,
          path: budget.path,
          message: `${copyText(propagation)}, and each allows ${shown(budget.value)} of its pods to be down`,
        };
    }
  },
});
