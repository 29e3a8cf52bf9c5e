import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { createDisruptionController } from "./poddisruptionbudget-controller.ts";
import { createStaleMarkController } from "./stale-marks-controller.ts";
import { podDisruptionBudgetInterpreter } from "./poddisruptionbudget-interpreter.ts";
import { PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";
import { rules } from "./poddisruptionbudget-rules.ts";

export const podDisruptionBudget = defineKind({
  kind: PodDisruptionBudget,
  rules,
  interpreter: podDisruptionBudgetInterpreter,
  controllers: (deps) => [createDisruptionController(deps), createStaleMarkController(deps)],
  example: exampleOf(PodDisruptionBudget, { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } }),
});
