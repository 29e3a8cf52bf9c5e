/**
 * Workloads with several kinds of pods, each with its own template: the requirements of each component, and the
 * dependencies of all of them.
 *
 * The objects belong to third-party kinds and may not have been validated, so any invalid value causes an
 * InterpretError that names the field.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, messageOf, type DeepReadonly } from "@flotilla/base";
import { InterpretError, podDependencies, templateReplicas } from "@flotilla/kubernetes";
import type { Component, Dependency, PodTemplateShape } from "@flotilla/kubernetes";
import { withoutEmpties, withoutNulls } from "../scripts/result-rules.ts";

type Owner = DeepReadonly<KubernetesObject>;

/** The pods of one component; the template has not been validated. */
export interface PodRole {
  readonly name: string;
  readonly template: unknown;
}

/** A replica count, which some objects hold as a string. Any other value means the default. */
export function replicasOr(fallback: number, value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && !Number.isNaN(number) ? number : fallback;
}

/** A missing template requests nothing. */
export function componentOf(owner: Owner, { name, template }: PodRole, replicas: number): Component {
  // Replicas in a binding's components are 32-bit.
  if (!Number.isInteger(replicas) || Math.abs(replicas) >= 2 ** 31) {
    throw new InterpretError(
      `counting the replicas of ${name} in ${owner.kind} ${owner.metadata.name}: ${replicas} is not a 32-bit integer`,
    );
  }
  return { name, ...readTemplate(owner, name, () => templateReplicas(replicas, shapeOf(template))) };
}

/** The dependencies of all templates, without duplicates, sorted by kind and name. */
export function roleDependencies(owner: Owner, roles: readonly PodRole[]): Dependency[] {
  const found = new Map<string, Dependency>();
  for (const { name, template } of roles) {
    for (const dependency of readTemplate(owner, name, () =>
      podDependencies(shapeOf(template), owner.metadata.namespace),
    )) {
      found.set(`${dependency.kind}/${dependency.name ?? ""}`, dependency);
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, dependency]) => dependency);
}

/** In these templates a null or empty value means absent: an empty selector does not constrain nodes. */
const shapeOf = (template: unknown): PodTemplateShape | undefined =>
  isObject(template) ? (withoutEmpties(withoutNulls(template)) as PodTemplateShape) : undefined;

/** An invalid quantity, or a map instead of a list: the pod template reader does not know the owner. */
function readTemplate<T>({ kind, metadata }: Owner, role: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InterpretError(`reading the pod template of ${role} in ${kind} ${metadata.name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
