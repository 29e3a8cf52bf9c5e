import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleTemplate } from "../pod/pod-example.ts";
import { createReplicationControllerController } from "./replicationcontroller-controller.ts";
import { ReplicationController } from "./replicationcontroller-kind.ts";
import { rules } from "./replicationcontroller-rules.ts";

export const replicationController = defineKind({
  kind: ReplicationController,
  rules,
  controllers: (deps) => [createReplicationControllerController(deps)],
  example: exampleOf(ReplicationController, { spec: { selector: { app: "web" }, template: exampleTemplate } }),
});
