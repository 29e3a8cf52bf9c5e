import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { createAutoscalerController } from "./horizontalpodautoscaler-controller.ts";
import { horizontalPodAutoscalerInterpreter } from "./horizontalpodautoscaler-interpreter.ts";
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import { rules } from "./horizontalpodautoscaler-rules.ts";

export const horizontalPodAutoscaler = defineKind({
  kind: HorizontalPodAutoscaler,
  rules,
  interpreter: horizontalPodAutoscalerInterpreter,
  controllers: (deps) => [createAutoscalerController(deps)],
  example: exampleOf(HorizontalPodAutoscaler, {
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
  }),
});
