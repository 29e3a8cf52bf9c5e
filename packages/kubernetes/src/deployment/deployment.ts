import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleWorkload } from "../pod/pod-example.ts";
import { REPLICA_VALUES } from "../workloads/replica-values.ts";
import { createDeploymentController } from "./deployment-controller.ts";
import { deploymentInterpreter } from "./deployment-interpreter.ts";
import { Deployment } from "./deployment-kind.ts";
import { rules } from "./deployment-rules.ts";

export const deployment = defineKind({
  kind: Deployment,
  rules,
  interpreter: deploymentInterpreter,
  controllers: (deps) => [createDeploymentController(deps)],
  feedback: { versions: ["v1"], values: REPLICA_VALUES },
  progress: "health",
  example: exampleOf(Deployment, { spec: exampleWorkload }),
});
