/**
 * Pods that an operator builds from fields of its own (`cores`, `resource.memory`) instead of from a whole pod template, and
 * what one of them asks of a cluster.
 */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly, Json } from "../../base/index.ts";
import { formatQuantity, tryParseQuantity, type Quantity } from "../../machinery/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { ReplicaRequirements } from "../kind-interpreter.ts";
import { templateProblem } from "../lua/library/pod-template.ts";
import { podRequirements, type PodTemplate } from "../pod-requirements.ts";
import { textOf } from "../replica-status.ts";

type Owner = DeepReadonly<KubernetesObject>;

/** Which nodes the pods accept and what they push aside; nothing of it has been checked. */
export interface PodPlacement {
  readonly nodeSelector?: unknown;
  readonly tolerations?: unknown;
  readonly affinity?: unknown;
  readonly priorityClassName?: unknown;
}

/** The quantity in a field. Throws when it is none, because its pods could then be put where they do not fit. */
export function quantityIn({ kind, metadata }: Owner, field: string, value: unknown): Quantity {
  const quantity = typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined;
  if (quantity === undefined) throw new InterpretError(`reading ${field} of ${kind} ${metadata.name}: it is not a quantity such as 500m or 2Gi`);
  return quantity;
}

/** Undefined when a pod asks for nothing and runs anywhere. Resource names are the user's, so they come as a map. */
export function placedRequirements(owner: Owner, amounts: ReadonlyMap<string, Quantity>, placement: PodPlacement = {}): ReplicaRequirements | undefined {
  const { nodeSelector, tolerations, affinity, priorityClassName } = placement;
  const template = { spec: { nodeSelector, tolerations, affinity, priorityClassName } };
  const problem = templateProblem(template as Json);
  if (problem !== undefined) throw new InterpretError(`reading where the pods of ${owner.kind} ${owner.metadata.name} may run: cannot unmarshal ${problem}`);
  const nodeClaim = podRequirements(template as PodTemplate)?.nodeClaim;
  const priority = textOf(priorityClassName);
  if (!nodeClaim && amounts.size === 0 && priority === "") return undefined;
  return {
    ...(nodeClaim && { nodeClaim }),
    ...(amounts.size > 0 && { resourceRequest: Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)])) }),
    ...(priority && { priorityClassName: priority }),
  };
}
