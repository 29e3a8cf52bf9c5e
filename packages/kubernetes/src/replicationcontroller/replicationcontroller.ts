import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleTemplate } from "../pod/pod-example.ts";
import { createReplicationControllerController } from "./replicationcontroller-controller.ts";
import { replicationControllerInterpreter } from "./replicationcontroller-interpreter.ts";
import { ReplicationController } from "./replicationcontroller-kind.ts";
import { rules } from "./replicationcontroller-rules.ts";

export const replicationController = defineKind({
  kind: ReplicationController,
  rules,
  interpreter: replicationControllerInterpreter,
  progress: "health",
  controllers: (deps) => [createReplicationControllerController(deps)],
  example: exampleOf(ReplicationController, { spec: { selector: { app: "web" }, template: exampleTemplate } }),
});
