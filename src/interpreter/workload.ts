/**
 * What workloads have in common when they run replicas of a pod template: `spec.replicas`, `spec.template` and counters
 * in the status. Kinds differ in which of these rules they take.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { InterpretError } from "./interpret-error.ts";
import type { Dependency, Replicas } from "./kind-interpreter.ts";
import { podDependencies, type PodWithReferences, type ReferringContainer } from "./pod-dependencies.ts";
import { podRequirements, type ContainerResources, type PodTemplate } from "./pod-requirements.ts";
import { countIn } from "./replica-status.ts";

type Container = ContainerResources & ReferringContainer;
type PodSpecShape = Omit<
  NonNullable<PodTemplate["spec"]> & NonNullable<PodWithReferences["spec"]>,
  "containers" | "initContainers"
> & { containers?: Container[]; initContainers?: Container[] };
/** What is read of a pod template. */
export interface PodTemplateShape {
  metadata?: { labels?: Record<string, string> };
  spec?: PodSpecShape;
}

/** Everything but metadata may be missing: a member's object is read as it is found. */
export interface Workload extends KubernetesObject {
  spec?: { replicas?: number; template?: PodTemplateShape };
  status?: object;
}

export function templateReplicas(replicas: number, template: DeepReadonly<PodTemplate> | undefined): Replicas {
  const requirements = podRequirements(template);
  return { replicas, ...(requirements && { requirements }) };
}

export const templateDependencies = ({ metadata, spec }: DeepReadonly<Workload>): Dependency[] =>
  podDependencies(spec?.template, metadata.namespace);

/** The object with another number in one field of its spec. */
export function withSpecField<T extends DeepReadonly<KubernetesObject> & { readonly spec?: object | undefined }>(
  object: T,
  field: string,
  value: unknown,
): T {
  return { ...object, spec: { ...object.spec, [field]: value } };
}

/**
 * Built-in kinds get their replicas by default from the API server; where the field is missing, it is not ours to add.
 */
export function reviseExisting<T extends DeepReadonly<KubernetesObject> & { readonly spec?: object | undefined }>(
  object: T,
  field: string,
  value: number,
): T {
  const current = object.spec && (object.spec as Readonly<Record<string, unknown>>)[field];
  return current === undefined || current === null ? object : withSpecField(object, field, value);
}

/** Kinds that are not defaulted cannot be divided before somebody says how many replicas there are. */
export function requireReplicas({ kind, metadata, spec }: DeepReadonly<Workload>): number {
  const replicas = spec?.replicas;
  if (typeof replicas === "number") return replicas;
  throw new InterpretError(`counting the replicas of ${kind} ${metadata.name}: spec.replicas is not a number`);
}

/** Whether the controller has seen the newest spec: before that, the rest of a status says nothing about it. */
export function isObserved(workload: DeepReadonly<Workload>): boolean {
  return countIn(workload, "observedGeneration") === (workload.metadata.generation ?? 0);
}

/** The rollout has reached all replicas and what is updated is available. */
export function isRolledOut(workload: DeepReadonly<Workload>): boolean {
  const updated = countIn(workload, "updatedReplicas");
  if (!isObserved(workload) || updated < (workload.spec?.replicas ?? 0)) return false;
  return countIn(workload, "availableReplicas") >= updated;
}
