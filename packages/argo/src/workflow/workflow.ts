import { defineKind } from "@flotilla/kubernetes";
import { createWorkflowController } from "./argo-controller.ts";
import { workflowInterpreter } from "./workflow-interpreter.ts";
import { Workflow } from "./workflow-kind.ts";

const example: Workflow = {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Workflow",
  metadata: { name: "web", namespace: "shop" },
  spec: { entrypoint: "main", templates: [{ name: "main", container: { image: "web:1" } }] },
};

export const workflow = defineKind({
  kind: Workflow,
  example,
  interpreter: workflowInterpreter,
  controllers: (deps) => [createWorkflowController(deps)],
});
