/** The Ray cluster that every Ray kind has in its spec: a head and groups of workers. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, textOf } from "@flotilla/base";
import type { Component } from "@flotilla/kubernetes";
import { componentOf, replicasOr, type PodRole } from "../components.ts";

export interface RayClusterSpec {
  headGroupSpec?: { template?: unknown };
  workerGroupSpecs?: unknown;
}
type Spec = DeepReadonly<RayClusterSpec>;

export interface WorkerGroup extends PodRole {
  readonly replicas: number;
}

/** Undefined without a template: there is no Ray cluster then. */
export function headOf(spec: Spec | undefined): PodRole | undefined {
  const template = spec?.headGroupSpec?.template ?? undefined;
  return template === undefined ? undefined : { name: "ray-head", template };
}

/** A group without a name is named by its one-based index; a group without a replica count starts empty. */
export function workerGroupsOf(spec: Spec | undefined): WorkerGroup[] {
  return groupListOf(spec).map((group, index) => ({
    name: textOf(group["groupName"]) || `worker-${index + 1}`,
    template: group["template"],
    replicas: replicasOr(0, group["replicas"]),
  }));
}

export function groupListOf(spec: Spec | undefined): readonly JsonObject[] {
  const groups = spec?.workerGroupSpecs;
  return Array.isArray(groups) ? groups.filter(isObject) : [];
}

export function clusterRoles(spec: Spec | undefined): PodRole[] {
  const head = headOf(spec);
  return head ? [head, ...workerGroupsOf(spec)] : workerGroupsOf(spec);
}

export function clusterComponents(owner: DeepReadonly<KubernetesObject>, spec: Spec | undefined): Component[] {
  const head = headOf(spec);
  const workers = workerGroupsOf(spec).map((group) => componentOf(owner, group, group.replicas));
  return head ? [componentOf(owner, head, 1), ...workers] : workers;
}
