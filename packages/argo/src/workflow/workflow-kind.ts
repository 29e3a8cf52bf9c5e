/**
 * Argo's Workflow. As in Argo's minimal CRD, spec and status are open and atomic to server-side apply, and the status
 * is not a subresource: every writer writes both, so two writers can overwrite each other.
 */
import { lazyVersion } from "@flotilla/apimachinery";
import type { Column, Kind, Schema } from "@flotilla/apimachinery";
import type { Workflow as WorkflowType } from "./workflow-types.ts";

export type Workflow = WorkflowType;

const open: Schema = {
  type: "object",
  "x-kubernetes-map-type": "atomic",
  "x-kubernetes-preserve-unknown-fields": true,
};

const schema: Schema = {
  type: "object",
  description: "Steps that run to completion as pods, one after another or as a graph.",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: {
      ...open,
      description: "The entrypoint and the templates, as in Argo Workflows. Any field is accepted.",
    },
    status: { ...open, description: "The phase of the workflow and of its nodes." },
  },
  required: ["metadata", "spec"],
};

const columns: Column[] = [
  { name: "Status", type: "string", jsonPath: ".status.phase" },
  {
    name: "Age",
    type: "date",
    format: "date-time",
    jsonPath: ".status.startedAt",
    description: "When it was started; empty before that.",
  },
  { name: "Message", type: "string", jsonPath: ".status.message", description: "Why it is in this state." },
];

export const Workflow: Kind<Workflow> = {
  group: "argoproj.io",
  kind: "Workflow",
  plural: "workflows",
  shortNames: ["wf"],
  scope: "Namespaced",
  storageVersion: "v1alpha1",
  versions: { v1alpha1: lazyVersion(columns, () => schema) },
  subresources: {},
  builtIn: false,
  hasGeneration: true,
  workload: { runsToCompletion: true },
};
