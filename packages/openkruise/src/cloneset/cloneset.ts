/** CloneSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { REPLICA_FEEDBACK, UPDATED_FEEDBACK } from "../api/feedback.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createCloneSetController } from "./cloneset-controller.ts";
import { cloneSetInterpreter } from "./cloneset-interpreter.ts";
import { CloneSet } from "./cloneset-kind.ts";
import { cloneSetStates } from "./cloneset-metrics.ts";
import { cloneSetRules } from "./cloneset-rules.ts";
import { expandCloneSet } from "./cloneset-shorthand.ts";
import { missingInVersion } from "./cloneset-versions.ts";

export const cloneSet = defineKruiseKind({
  kind: CloneSet,
  example: exampleOf(CloneSet, { spec: exampleWorkload }),
  rules: cloneSetRules,
  fieldsMissingIn: missingInVersion,
  expandShorthand: expandCloneSet,
  interpreter: cloneSetInterpreter,
  controllers: (deps) => [createCloneSetController(deps)],
  states: cloneSetStates,
  progress: "health",
  feedback: {
    values: [
      ...REPLICA_FEEDBACK,
      UPDATED_FEEDBACK,
      ["UpdatedReadyReplicas", ".status.updatedReadyReplicas"],
      ["ExpectedUpdatedReplicas", ".status.expectedUpdatedReplicas"],
    ],
  },
});
