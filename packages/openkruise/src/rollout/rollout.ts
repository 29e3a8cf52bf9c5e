/** Rollout: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createRolloutController } from "./rollout-controller.ts";
import { kruiseRolloutInterpreter } from "./rollout-interpreter.ts";
import { Rollout } from "./rollout-kind.ts";
import { ROLLING_STYLE } from "../released-workload/rollout-names.ts";
import { rolloutRules } from "./rollout-rules.ts";
import { rolloutFieldsMissingIn } from "./rollout-versions.ts";
import { createRolloutAdmissions } from "./workload-webhook.ts";

export const kruiseRollout = defineKruiseKind({
  kind: Rollout,
  example: exampleOf(Rollout, {
    // Without it the conversion to v1alpha1 would add it.
    metadata: { annotations: { [ROLLING_STYLE]: "partition" } },
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      strategy: { canary: { steps: [{ replicas: "20%", pause: {} }, { replicas: "100%" }] } },
    },
  }),
  rules: rolloutRules,
  fieldsMissingIn: rolloutFieldsMissingIn,
  webhooks: createRolloutAdmissions,
  interpreter: kruiseRolloutInterpreter,
  controllers: (deps) => [createRolloutController(deps)],
});
