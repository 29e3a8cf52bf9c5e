/** PodUnavailableBudget: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { createBudgetAdmissions } from "./podunavailablebudget-admission.ts";
import { createBudgetController } from "./podunavailablebudget-controller.ts";
import { podUnavailableBudgetInterpreter } from "./podunavailablebudget-interpreter.ts";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import { podUnavailableBudgetRules } from "./podunavailablebudget-rules.ts";

export const podUnavailableBudget = defineKruiseKind({
  kind: PodUnavailableBudget,
  example: exampleOf(PodUnavailableBudget, { spec: { maxUnavailable: 1, selector: exampleWorkload.selector } }),
  rules: podUnavailableBudgetRules,
  fieldsMissingIn: onlyInBeta("spec.ignoredPodSelector"),
  webhooks: createBudgetAdmissions,
  interpreter: podUnavailableBudgetInterpreter,
  controllers: (deps) => [createBudgetController(deps)],
});
