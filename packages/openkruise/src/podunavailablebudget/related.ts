/** The budget of a pod. Pure. */
import { matchesLabels } from "@flotilla/apimachinery";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import { budgetSelector } from "./budget-scope.ts";
import type { WorkloadRef } from "./budget-scope.ts";
import { isSameTarget } from "../workloadspread/spread-targets.ts";

/**
 * The first budget of the namespace that targets the workload or selects these labels. An empty selector selects
 * nothing.
 */
export function budgetFor(
  budgets: readonly ReadonlyBudget[],
  workload: Pick<WorkloadRef, "apiVersion" | "kind" | "name"> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): ReadonlyBudget | undefined {
  return budgets.find(({ spec }) => {
    const { targetRef, selector } = spec ?? {};
    if (targetRef)
      return (
        workload !== undefined &&
        isSameTarget(workload, {
          apiVersion: targetRef.apiVersion ?? "",
          kind: targetRef.kind ?? "",
          name: targetRef.name ?? "",
        })
      );
    const wanted = budgetSelector(selector);
    return wanted.requirements.length > 0 && matchesLabels(wanted, labels);
  });
}
