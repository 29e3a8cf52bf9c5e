import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleWorkload } from "../pod/pod-example.ts";
import { createReplicaSetController } from "./replicaset-controller.ts";
import { replicaSetInterpreter } from "./replicaset-interpreter.ts";
import { ReplicaSet } from "./replicaset-kind.ts";
import { rules } from "./replicaset-rules.ts";

export const replicaSet = defineKind({
  kind: ReplicaSet,
  rules,
  interpreter: replicaSetInterpreter,
  progress: "health",
  controllers: (deps) => [createReplicaSetController(deps)],
  example: exampleOf(ReplicaSet, { spec: exampleWorkload }),
});
