import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleWorkload } from "../pod/pod-example.ts";
import { createDaemonSetController } from "./daemonset-controller.ts";
import { daemonSetInterpreter } from "./daemonset-interpreter.ts";
import { DaemonSet } from "./daemonset-kind.ts";
import { rules } from "./daemonset-rules.ts";

export const daemonSet = defineKind({
  kind: DaemonSet,
  rules,
  interpreter: daemonSetInterpreter,
  controllers: (deps) => [createDaemonSetController(deps)],
  feedback: {
    versions: ["v1"],
    values: [
      ["NumberReady", ".status.numberReady"],
      ["DesiredNumberScheduled", ".status.desiredNumberScheduled"],
      ["NumberAvailable", ".status.numberAvailable"],
    ],
  },
  progress: "health",
  example: exampleOf(DaemonSet, { spec: exampleWorkload }),
});
