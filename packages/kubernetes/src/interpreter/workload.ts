/**
 * Common rules of workloads that run replicas of a pod template: `spec.replicas`, `spec.template` and status counters.
 * Kinds differ in which of these rules they use.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Dependency, Replicas } from "./kind-interpreter.ts";
import { podDependencies, type PodWithReferences, type ReferringContainer } from "./pod-dependencies.ts";
import { podRequirements, type ContainerResources, type PodTemplate } from "./pod-requirements.ts";
import { countIn } from "./replica-status.ts";

type Container = ContainerResources & ReferringContainer;
type PodSpecShape = Omit<
  NonNullable<PodTemplate["spec"]> & NonNullable<PodWithReferences["spec"]>,
  "containers" | "initContainers"
> & { containers?: Container[]; initContainers?: Container[] };
/** The fields read from a pod template. */
export interface PodTemplateShape {
  metadata?: { labels?: Record<string, string> };
  spec?: PodSpecShape;
}

/** Everything except metadata may be missing: a member's object is not validated. */
export interface Workload extends KubernetesObject {
  spec?: { replicas?: number; template?: PodTemplateShape };
  status?: object;
}

export function templateReplicas(replicas: number, template: DeepReadonly<PodTemplate> | undefined): Replicas {
  const requirements = podRequirements(template);
  return { replicas, requirements };
}

export const templateDependencies = ({ metadata, spec }: DeepReadonly<Workload>): Dependency[] =>
  podDependencies(spec?.template, metadata.namespace);

/** The object with another number in one spec field. */
export function withSpecField<T extends DeepReadonly<KubernetesObject> & { readonly spec?: object | undefined }>(
  object: T,
  field: string,
  value: unknown,
): T {
  return { ...object, spec: { ...object.spec, [field]: value } };
}

/** The API server defaults the replicas of built-in kinds; if the field is missing, it is not added here. */
export function reviseExisting<T extends DeepReadonly<KubernetesObject> & { readonly spec?: object | undefined }>(
  object: T,
  field: string,
  value: number,
): T {
  const current = object.spec && (object.spec as Readonly<Record<string, unknown>>)[field];
  return current === undefined || current === null ? object : withSpecField(object, field, value);
}

/** Whether the controller has observed the newest spec: before that, the rest of the status does not describe it. */
export function isObserved(workload: DeepReadonly<KubernetesObject & { status?: object }>): boolean {
  return countIn(workload, "observedGeneration") === (workload.metadata.generation ?? 0);
}

/** The rollout has reached all replicas and what is updated is available. */
export function isRolledOut(workload: DeepReadonly<Workload>): boolean {
  const updated = countIn(workload, "updatedReplicas");
  if (!isObserved(workload) || updated < (workload.spec?.replicas ?? 0)) return false;
  return countIn(workload, "availableReplicas") >= updated;
}
