/**
 * Pods that an operator builds from fields of its own (`cores`, `resource.memory`) instead of from a whole pod
 * template, and what one of them asks of a cluster.
 */
import { decodedPart, type KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly, type JsonObject } from "../../base/index.ts";
import { formatQuantity, tryParseQuantity, type Quantity } from "../../machinery/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { ReplicaRequirements } from "../kind-interpreter.ts";
import { podRequirements, type PodTemplate } from "../pod-requirements.ts";
import { textOf } from "../replica-status.ts";

type Owner = DeepReadonly<KubernetesObject>;

/** Which nodes the pods accept and what they push aside, as in a pod; nothing of it has been checked. */
export interface PodPlacement {
  readonly nodeSelector?: unknown;
  readonly tolerations?: unknown;
  readonly affinity?: { readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: unknown } };
  readonly priorityClassName?: unknown;
}

/** The quantity in a field. Throws when it is none, because its pods could then be put where they do not fit. */
export function quantityIn({ kind, metadata }: Owner, field: string, value: unknown): Quantity {
  const quantity = typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined;
  if (quantity === undefined)
    throw new InterpretError(`reading ${field} of ${kind} ${metadata.name}: it is not a quantity such as 500m or 2Gi`);
  return quantity;
}

/** Empty when a pod asks for nothing and runs anywhere. Resource names are the user's, so they come as a map. */
export function placedRequirements(
  owner: Owner,
  amounts: ReadonlyMap<string, Quantity>,
  placement: PodPlacement,
): ReplicaRequirements {
  const { nodeSelector, tolerations, affinity, priorityClassName } = podPart(owner, placement);
  const spec = {
    ...(isObject(nodeSelector) && { nodeSelector }),
    ...(Array.isArray(tolerations) && { tolerations }),
    ...(isObject(affinity) && { affinity }),
  };
  const nodeClaim = podRequirements({ spec } as PodTemplate)?.nodeClaim;
  const priority = textOf(priorityClassName);
  return {
    ...(nodeClaim && { nodeClaim }),
    ...(amounts.size > 0 && {
      resourceRequest: Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)])),
    }),
    ...(priority && { priorityClassName: priority }),
  };
}

/**
 * The placement as a pod would have it: without what is no field of a pod. Throws where it has something else in one.
 */
function podPart(
  { kind, metadata }: Owner,
  { nodeSelector, tolerations, affinity, priorityClassName }: PodPlacement,
): JsonObject {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? undefined;
  const given = {
    nodeSelector,
    tolerations,
    priorityClassName,
    // Nothing else of an affinity narrows down the nodes for sure, so nothing else is looked at.
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
    (problem) => new InterpretError(`reading where the pods of ${kind} ${metadata.name} may run: ${problem}`),
  );
}
