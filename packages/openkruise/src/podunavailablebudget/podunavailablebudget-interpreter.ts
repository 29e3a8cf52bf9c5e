/** OpenKruise PodUnavailableBudget: every member enforces its own budget; the template shows the sums. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, omitZero } from "@flotilla/base";
import { countIn, isObserved, observedGenerationOf, reflectFields, replaceStatus } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { podTimesOf, sums } from "../interpreter/fleet.ts";

interface PodUnavailableBudget extends KubernetesObject {
  status?: JsonObject;
}

const COUNTERS = ["unavailableAllowed", "currentAvailable", "desiredAvailable", "totalReplicas"];

export const podUnavailableBudgetInterpreter: KindInterpreter<PodUnavailableBudget> = {
  group: "policy.kruise.io",
  kind: "PodUnavailableBudget",
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
