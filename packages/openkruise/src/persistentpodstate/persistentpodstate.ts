/** PersistentPodState: everything that Flotilla knows about the kind. */
import { exampleOf, HOSTNAME_LABEL } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createPersistentPodStateControllers } from "./persistentpodstate-controller.ts";
import { persistentPodStateInterpreter } from "./persistentpodstate-interpreter.ts";
import { PersistentPodState } from "./persistentpodstate-kind.ts";
import { persistentPodStateRules } from "./persistentpodstate-rules.ts";
import { createPodStateAdmission } from "./pod-state-admission.ts";

export const persistentPodState = defineKruiseKind({
  kind: PersistentPodState,
  example: exampleOf(PersistentPodState, {
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" },
      requiredPersistentTopology: { nodeTopologyKeys: [HOSTNAME_LABEL] },
    },
  }),
  rules: persistentPodStateRules,
  webhooks: (options) => [createPodStateAdmission(options)],
  interpreter: persistentPodStateInterpreter,
  controllers: createPersistentPodStateControllers,
});
