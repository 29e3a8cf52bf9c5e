/** HorizontalPodAutoscaler: each member scales by itself; the template shows their total desired replicas. */
import { omitZero } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { countOf, int32SumOf, reportedStatuses, statusOf, withStatus } from "../interpreter/replica-status.ts";

interface HorizontalPodAutoscaler extends KubernetesObject {
  status?: JsonObject;
}

export const horizontalPodAutoscalerInterpreter: KindInterpreter<HorizontalPodAutoscaler> = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  reflectStatus(autoscaler) {
    const status = statusOf(autoscaler);
    return status && counts(countOf(status["currentReplicas"]), countOf(status["desiredReplicas"]));
  },
  aggregateStatus(autoscaler, items) {
    const statuses = reportedStatuses(items);
    return withStatus(
      autoscaler,
      counts(int32SumOf(statuses, "currentReplicas"), int32SumOf(statuses, "desiredReplicas")),
    );
  },
};

/** The kind omits current replicas when zero, and always shows desired replicas. */
const counts = (currentReplicas: number, desiredReplicas: number): JsonObject => ({
  ...omitZero({ currentReplicas }),
  desiredReplicas,
});
