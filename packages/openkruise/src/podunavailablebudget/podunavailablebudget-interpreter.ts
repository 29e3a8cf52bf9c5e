/** OpenKruise PodUnavailableBudget: every member enforces its part of the budget; the template shows the sums. */
import { isObject, omitZero } from "@flotilla/base";
import { countIn, isObserved, observedGenerationOf, reflectFields, replaceStatus } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { podTimesOf, sums } from "../interpreter/merged-status.ts";
import { concernOf } from "../interpreter/concern.ts";
import { divideBudget, type DividedBudget } from "./divide-budget.ts";

const COUNTERS = ["unavailableAllowed", "currentAvailable", "desiredAvailable", "totalReplicas"];

export const podUnavailableBudgetInterpreter: KindInterpreter<DividedBudget> = {
  group: "policy.kruise.io",
  kind: "PodUnavailableBudget",
  divide: divideBudget,
  concerns: ({ spec }) => concernOf(spec),
  reflectStatus: (budget) => reflectFields(budget, [...COUNTERS, "disruptedPods", "unavailablePods"]),
  aggregateStatus(budget, items) {
    const disruptedPods = podTimesOf(items, "disruptedPods");
    const unavailablePods = podTimesOf(items, "unavailablePods");
    return replaceStatus(budget, {
      observedGeneration: observedGenerationOf(budget, items),
      ...sums(items, COUNTERS),
      ...omitZero({ disruptedPods, unavailablePods }),
    });
  },
  isHealthy: (budget) =>
    isObject(budget.status) &&
    isObserved(budget) &&
    countIn(budget, "currentAvailable") >= countIn(budget, "desiredAvailable"),
};
