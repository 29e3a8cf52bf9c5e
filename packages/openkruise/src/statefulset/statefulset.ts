/** Advanced StatefulSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { REPLICA_FEEDBACK, UPDATED_FEEDBACK } from "../api/feedback.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { LIFECYCLE_NOTES } from "../api/lifecycle-notes.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { expandSelector } from "../api/template-shorthand.ts";
import { createAdvancedStatefulSetController } from "./statefulset-controller.ts";
import { advancedStatefulSetInterpreter } from "./statefulset-interpreter.ts";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import { statefulSetStates } from "./statefulset-metrics.ts";
import { statefulSetRules } from "./statefulset-rules.ts";

export const statefulSet = defineKruiseKind({
  kind: AdvancedStatefulSet,
  summary: "OpenKruise's StatefulSet, with a partition, in-place updates, reserved ordinals, and parallel updates.",
  example: exampleOf(AdvancedStatefulSet, { spec: { ...exampleWorkload, serviceName: "web" } }),
  rules: statefulSetRules,
  fieldsMissingIn: onlyInBeta(
    "spec.lifecycle",
    "spec.ordinals",
    "spec.persistentVolumeClaimRetentionPolicy",
    "spec.reserveOrdinals",
    "spec.scaleStrategy",
    "spec.volumeClaimUpdateStrategy",
  ),
  expandShorthand: expandSelector,
  interpreter: advancedStatefulSetInterpreter,
  controllers: (deps) => [createAdvancedStatefulSetController(deps)],
  states: statefulSetStates,
  progress: "health",
  feedback: { values: [...REPLICA_FEEDBACK, UPDATED_FEEDBACK] },
  fieldNotes: {
    ...LIFECYCLE_NOTES,
    "spec.replicas": "Divided over the members.",
    "spec.ordinals": "The first ordinal. Each ordinal exists once in the fleet.",
    "spec.reserveOrdinals": "Ordinals to skip.",
    "spec.updateStrategy.rollingUpdate.partition":
      "Pods below this ordinal keep the old template, counted over the fleet.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "Maximum number of unavailable pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy": "Recreate pods, or update them in place.",
    "spec.persistentVolumeClaimRetentionPolicy": "What happens to claims on deletion or scale-down.",
  },
});
