import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleWorkload } from "../pod/pod-example.ts";
import { REPLICA_VALUES } from "../workloads/replica-values.ts";
import { createStatefulSetController } from "./statefulset-controller.ts";
import { statefulSetInterpreter } from "./statefulset-interpreter.ts";
import { StatefulSet } from "./statefulset-kind.ts";
import { rules } from "./statefulset-rules.ts";

export const statefulSet = defineKind({
  kind: StatefulSet,
  rules,
  interpreter: statefulSetInterpreter,
  controllers: (deps) => [createStatefulSetController(deps)],
  feedback: { versions: ["v1"], values: [...REPLICA_VALUES, ["UpdatedReplicas", ".status.updatedReplicas"]] },
  progress: "health",
  example: exampleOf(StatefulSet, { spec: { ...exampleWorkload, serviceName: "web" } }),
});
