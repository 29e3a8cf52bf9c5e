/** Advanced DaemonSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { expandSelector } from "../api/template-shorthand.ts";
import { createAdvancedDaemonSetController } from "./daemonset-controller.ts";
import { advancedDaemonSetInterpreter } from "./daemonset-interpreter.ts";
import { AdvancedDaemonSet } from "./daemonset-kind.ts";
import { daemonSetStates } from "./daemonset-metrics.ts";
import { daemonSetRules } from "./daemonset-rules.ts";

export const daemonSet = defineKruiseKind({
  kind: AdvancedDaemonSet,
  example: exampleOf(AdvancedDaemonSet, { spec: exampleWorkload }),
  rules: daemonSetRules,
  expandShorthand: expandSelector,
  interpreter: advancedDaemonSetInterpreter,
  controllers: (deps) => [createAdvancedDaemonSetController(deps)],
  states: daemonSetStates,
  progress: "health",
  feedback: {
    values: [
      ["NumberReady", ".status.numberReady"],
      ["DesiredNumberScheduled", ".status.desiredNumberScheduled"],
      ["NumberAvailable", ".status.numberAvailable"],
      ["UpdatedNumberScheduled", ".status.updatedNumberScheduled"],
    ],
  },
});
