/**
 * Requirements of pods that an operator builds from its own fields (`cores`, `resource.memory`) instead of from a whole
 * pod template.
 */
import { decodedPart, formatQuantity, tryParseQuantity } from "@flotilla/apimachinery";
import type { KubernetesObject, Quantity } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, textOf } from "@flotilla/base";
import { InterpretError } from "./interpret-error.ts";
import type { ReplicaRequirements } from "./kind-interpreter.ts";
import { podRequirements, type PodTemplate } from "./pod-requirements.ts";

type Owner = DeepReadonly<KubernetesObject>;

/** Node constraints and priority, as in a pod; not validated. */
export interface PodPlacement {
  readonly nodeSelector?: unknown;
  readonly tolerations?: unknown;
  readonly affinity?: { readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: unknown } };
  readonly priorityClassName?: unknown;
}

/**
 * The quantity in a field. Throws if it is invalid, because its pods could otherwise be scheduled where they do not
 * fit.
 */
export function quantityIn({ kind, metadata }: Owner, field: string, value: unknown): Quantity {
  const quantity = typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined;
  if (quantity === undefined)
    throw new InterpretError(`reading ${field} of ${kind} ${metadata.name}: it is not a quantity such as 500m or 2Gi`);
  return quantity;
}

/**
 * Empty when a pod requests nothing and runs anywhere. Resource names come from the user, so they are passed as a map.
 */
export function placedRequirements(
  owner: Owner,
  amounts: ReadonlyMap<string, Quantity>,
  placement: PodPlacement,
): ReplicaRequirements {
  const { nodeSelector, tolerations, affinity, priorityClassName } = podPart(owner, placement);
  const spec = {
    nodeSelector: isObject(nodeSelector) ? nodeSelector : undefined,
    tolerations: Array.isArray(tolerations) ? tolerations : undefined,
    affinity: isObject(affinity) ? affinity : undefined,
  };
  const nodeClaim = podRequirements({ spec } as PodTemplate)?.nodeClaim;
  const priority = textOf(priorityClassName);
  return {
    nodeClaim,
    resourceRequest:
      amounts.size > 0
        ? Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]))
        : undefined,
    priorityClassName: priority || undefined,
  };
}

/** The placement in the format of a pod, with pod fields only. Throws if a field has the wrong type. */
function podPart(
  { kind, metadata }: Owner,
  { nodeSelector, tolerations, affinity, priorityClassName }: PodPlacement,
): JsonObject {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? undefined;
  const given = {
    nodeSelector,
    tolerations,
    priorityClassName,
    // Only this part of an affinity reliably narrows down the nodes, so the rest is ignored.
    affinity:
      required === undefined
        ? undefined
        : { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  };
  const fields = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  ) as JsonObject;
  return decodedPart(
    "core-v1",
    "PodSpec",
    fields,
    (problem) => new InterpretError(`reading the node constraints of the pods of ${kind} ${metadata.name}: ${problem}`),
  );
}
