/** Pod readiness: the condition KruisePodReady, with which OpenKruise's features make a pod unready. */
import type { KruiseFeature } from "../api/kruise-definition.ts";
import { createPodStartAdmission } from "./pod-readiness-admission.ts";
import { createPodReadinessController } from "./pod-readiness-controller.ts";

export const podReadiness: KruiseFeature = {
  webhooks: (options) => [createPodStartAdmission(options)],
  controllers: (deps) => [createPodReadinessController(deps)],
};
