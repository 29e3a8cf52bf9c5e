/**
 * The parts of an Argo Workflow that Flotilla uses. The CRD leaves spec and status open, as Argo's minimal CRD does, so
 * other fields may be present.
 */
import type { Json } from "@flotilla/base";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import type { KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";

export interface Workflow extends KubernetesObject {
  spec: WorkflowSpec;
  status?: WorkflowStatus;
}

export interface WorkflowSpec {
  /** The template that runs first. */
  entrypoint?: string;
  /** The template that runs last, regardless of the outcome. */
  onExit?: string;
  templates?: WorkflowTemplate[];
  arguments?: WorkflowArguments;
  serviceAccountName?: string;
  suspend?: boolean;
  /** `Stop` still runs the exit handler, `Terminate` does not. */
  shutdown?: "" | "Stop" | "Terminate";
  /** Maximum number of concurrent pods; unset means no limit. */
  parallelism?: number;
  activeDeadlineSeconds?: number;
  ttlStrategy?: { secondsAfterCompletion?: number; secondsAfterSuccess?: number; secondsAfterFailure?: number };
  podGC?: { strategy?: string };
  nodeSelector?: Record<string, string>;
  priority?: number;
}

export interface WorkflowTemplate {
  name?: string;
  inputs?: WorkflowArguments;
  outputs?: WorkflowOutputs;
  metadata?: Pick<Partial<ObjectMeta>, "labels" | "annotations">;
  container?: Partial<Container>;
  /** The steps of an inner list run in parallel; the lists run in sequence. */
  steps?: WorkflowStep[][];
  dag?: { target?: string; tasks: WorkflowTask[]; failFast?: boolean };
  suspend?: { duration?: string };
  retryStrategy?: WorkflowRetryStrategy;
  activeDeadlineSeconds?: IntOrString;
  parallelism?: number;
  failFast?: boolean;
}

export interface WorkflowArguments {
  parameters?: WorkflowParameter[];
}

interface WorkflowOutputs extends WorkflowArguments {
  result?: string;
  exitCode?: string;
}

interface WorkflowParameter {
  name: string;
  value?: string;
  default?: string;
  enum?: string[];
  description?: string;
}

export interface WorkflowStep {
  name?: string;
  template?: string;
  inline?: WorkflowTemplate;
  arguments?: WorkflowArguments;
  when?: string;
  withItems?: Json[];
  continueOn?: { error?: boolean; failed?: boolean };
}

export interface WorkflowTask extends Omit<WorkflowStep, "name"> {
  name: string;
  dependencies?: string[];
  /** Names joined by `&&`, `||` and `!`, each with an optional result: `build.Succeeded && !lint.Failed`. */
  depends?: string;
}

interface WorkflowRetryStrategy {
  limit?: IntOrString;
  retryPolicy?: "" | "Always" | "OnFailure" | "OnError" | "OnTransientError";
  backoff?: { duration?: string; factor?: IntOrString; maxDuration?: string; cap?: string };
}

export type WorkflowPhase = "" | "Pending" | "Running" | "Succeeded" | "Failed" | "Error";
export type WorkflowNodePhase = "Pending" | "Running" | "Succeeded" | "Skipped" | "Failed" | "Error" | "Omitted";
export type WorkflowNodeType = "Pod" | "Steps" | "StepGroup" | "DAG" | "TaskGroup" | "Retry" | "Skipped" | "Suspend";

export interface WorkflowStatus {
  phase?: WorkflowPhase;
  startedAt?: string | null;
  finishedAt?: string | null;
  estimatedDuration?: number;
  /** `done/all` of the pods known so far. */
  progress?: string;
  message?: string;
  nodes?: Record<string, WorkflowNodeStatus>;
  conditions?: { type: string; status: string; message?: string }[];
  resourcesDuration?: Record<string, number>;
  outputs?: WorkflowOutputs;
}

export interface WorkflowNodeStatus {
  id: string;
  name: string;
  displayName: string;
  type: WorkflowNodeType;
  templateName?: string;
  templateScope?: string;
  phase?: WorkflowNodePhase;
  /** The node that this one is a part of. */
  boundaryID?: string;
  message?: string;
  startedAt?: string | null;
  finishedAt?: string | null;
  progress?: string;
  inputs?: WorkflowArguments;
  outputs?: WorkflowOutputs;
  children?: string[];
  outboundNodes?: string[];
  hostNodeName?: string;
  resourcesDuration?: Record<string, number>;
}
