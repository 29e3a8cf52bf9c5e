/** PodDisruptionBudget: each member enforces its own; the template shows the sums. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, omitZero, defined } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import {
  countIn,
  countOf,
  int32SumOf,
  reportedStatuses,
  statusOf,
  replaceStatus,
} from "../interpreter/replica-status.ts";

interface PodDisruptionBudget extends KubernetesObject {
  status?: JsonObject;
}

const COUNTERS = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

export const podDisruptionBudgetInterpreter: KindInterpreter<PodDisruptionBudget> = {
  group: "policy",
  kind: "PodDisruptionBudget",
  reflectStatus(budget) {
    const status = statusOf(budget);
    if (!status) return undefined;
    const { disruptedPods } = status;
    return {
      ...Object.fromEntries(COUNTERS.map((field) => [field, countOf(status[field])])),
      ...omitZero({ disruptedPods }),
    };
  },
  aggregateStatus(budget, items) {
    const statuses = reportedStatuses(items);
    // Pods of different members may have the same name.
    const disrupted = items.flatMap(({ clusterName, status }) => {
      const pods = isObject(status) ? status["disruptedPods"] : undefined;
      return isObject(pods) ? Object.entries(pods).map(([pod, since]) => [`${clusterName}/${pod}`, since]) : [];
    });
    return replaceStatus(budget, {
      ...Object.fromEntries(COUNTERS.map((field) => [field, int32SumOf(statuses, field)])),
      ...defined({ disruptedPods: disrupted.length > 0 ? (Object.fromEntries(disrupted) as JsonObject) : undefined }),
    });
  },
  isHealthy: (budget) => countIn(budget, "currentHealthy") >= countIn(budget, "desiredHealthy"),
};
