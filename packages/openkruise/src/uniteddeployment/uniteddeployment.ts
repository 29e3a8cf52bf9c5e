/** UnitedDeployment: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { UPDATED_FEEDBACK } from "../api/feedback.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { createUnitedDeploymentController } from "./uniteddeployment-controller.ts";
import { unitedDeploymentInterpreter } from "./uniteddeployment-interpreter.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { unitedDeploymentRules } from "./uniteddeployment-rules.ts";
import { expandUnitedDeployment } from "./uniteddeployment-shorthand.ts";

export const unitedDeployment = defineKruiseKind({
  kind: UnitedDeployment,
  example: exampleOf(UnitedDeployment, {
    spec: {
      replicas: 1,
      selector: exampleWorkload.selector,
      template: { deploymentTemplate: { metadata: { labels: { app: "web" } }, spec: exampleWorkload } },
      topology: { subsets: [{ name: "a" }] },
    },
  }),
  rules: unitedDeploymentRules,
  fieldsMissingIn: onlyInBeta("spec.template.cloneSetTemplate.spec.scaleStrategy.excludePreparingDelete"),
  expandShorthand: expandUnitedDeployment,
  interpreter: unitedDeploymentInterpreter,
  controllers: (deps) => [createUnitedDeploymentController(deps)],
  progress: "health",
  feedback: {
    values: [["ReadyReplicas", ".status.readyReplicas"], ["Replicas", ".status.replicas"], UPDATED_FEEDBACK],
  },
});
