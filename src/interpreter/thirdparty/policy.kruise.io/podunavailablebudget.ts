/** OpenKruise PodUnavailableBudget: every member enforces its own budget; the template shows the sums. */
import type { KubernetesObject } from "../../../api/index.ts";
import { isObject, type JsonObject } from "../../../base/index.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { countIn, replaceStatus } from "../../replica-status.ts";
import { isObserved } from "../../workload.ts";
import { podTimesOf, sums } from "../apps.kruise.io/fleet.ts";
import { observedGenerationOf, reflectFields } from "../counters.ts";

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
      ...(disruptedPods && { disruptedPods }),
      ...(unavailablePods && { unavailablePods }),
    });
  },
  isHealthy: (budget) =>
    isObject(budget.status) &&
    isObserved(budget) &&
    countIn(budget, "currentAvailable") >= countIn(budget, "desiredAvailable"),
};
