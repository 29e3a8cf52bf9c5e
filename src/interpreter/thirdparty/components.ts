/**
 * Workloads that run several kinds of pods, each from a template of its own: what each of these components asks for,
 * and what all of them refer to.
 *
 * The objects are other projects' and may be read before anything has checked them, so whatever is in them either has a
 * meaning here or is an InterpretError that names the place.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, messageOf, type DeepReadonly } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { Component, Dependency } from "../kind-interpreter.ts";
import { withoutEmpties, withoutNulls } from "../lua/result-rules.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { templateReplicas, type PodTemplateShape } from "../workload.ts";

type Owner = DeepReadonly<KubernetesObject>;

/** The pods of one component; what its template is has not been checked. */
export interface PodRole {
  readonly name: string;
  readonly template: unknown;
}

/** A number of replicas, which some objects hold as text. What is not a number stands for the default. */
export function replicasOr(fallback: number, value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && !Number.isNaN(number) ? number : fallback;
}

/** A template that is missing asks for nothing. */
export function componentOf(owner: Owner, { name, template }: PodRole, replicas: number): Component {
  // A binding's components count in 32 bits.
  if (!Number.isInteger(replicas) || Math.abs(replicas) >= 2 ** 31) {
    throw new InterpretError(
      `counting the replicas of ${name} in ${owner.kind} ${owner.metadata.name}: ${replicas} is not a whole number of 32 bits`,
    );
  }
  return { name, ...readTemplate(owner, name, () => templateReplicas(replicas, shapeOf(template))) };
}

/** What any of the templates refers to, each once, sorted by kind and name. */
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

/** In these templates a null or an empty value stands for an absent one: an empty selector is no claim on nodes. */
const shapeOf = (template: unknown): PodTemplateShape | undefined =>
  isObject(template) ? (withoutEmpties(withoutNulls(template)) as PodTemplateShape) : undefined;

/** A quantity that is none, or a map where a list belongs: the reader of pod templates does not know whose they are. */
function readTemplate<T>({ kind, metadata }: Owner, role: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InterpretError(`reading the pod template of ${role} in ${kind} ${metadata.name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
