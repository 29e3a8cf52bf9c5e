/** Advanced StatefulSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { REPLICA_FEEDBACK, UPDATED_FEEDBACK } from "../api/feedback.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { expandSelector } from "../api/template-shorthand.ts";
import { createAdvancedStatefulSetController } from "./statefulset-controller.ts";
import { advancedStatefulSetInterpreter } from "./statefulset-interpreter.ts";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import { statefulSetStates } from "./statefulset-metrics.ts";
import { statefulSetRules } from "./statefulset-rules.ts";

export const statefulSet = defineKruiseKind({
  kind: AdvancedStatefulSet,
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
});
