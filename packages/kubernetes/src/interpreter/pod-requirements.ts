/**
 * Computes the requirements of one pod of a template: its resource requests and node constraints, in the format of a
 * binding's `replicaRequirements`.
 */
import { isObject, type DeepReadonly, type JsonObject, omitZero, defined } from "@flotilla/base";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOfMilli,
  quantityValue,
} from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import type { ReplicaRequirements } from "./kind-interpreter.ts";

export interface ContainerResources {
  resources?: { requests?: Record<string, string | number>; limits?: Record<string, string | number> };
}

/** The part of a pod template that placement depends on. */
export interface PodTemplate {
  spec?: {
    containers?: ContainerResources[];
    initContainers?: ContainerResources[];
    overhead?: Record<string, string | number>;
    nodeSelector?: Record<string, string>;
    tolerations?: unknown[];
    affinity?: { nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: unknown } };
  };
}

type Amounts = Map<string, Quantity>;
const ZERO = parseQuantity("0");
const COUNTED = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);

/** Undefined when the pod requests nothing and runs anywhere. */
export function podRequirements(template: DeepReadonly<PodTemplate> | undefined): ReplicaRequirements | undefined {
  const spec = template?.spec ?? {};
  const nodeClaim = nodeClaimOf(spec);
  const resourceRequest = resourceRequestOf(spec);
  if (!nodeClaim && !resourceRequest) return undefined;
  // Scripts of users get it, and an undefined field would be null there.
  return omitZero({ nodeClaim, resourceRequest });
}

function nodeClaimOf({
  nodeSelector,
  tolerations,
  affinity,
}: DeepReadonly<NonNullable<PodTemplate["spec"]>>): ReplicaRequirements["nodeClaim"] {
  const hardNodeAffinity = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution as
    | JsonObject
    | undefined;
  if (!nodeSelector && !tolerations?.length && !hardNodeAffinity) return undefined;
  return {
    ...omitZero({ hardNodeAffinity }),
    ...defined({
      nodeSelector: nodeSelector && Object.keys(nodeSelector).length > 0 ? { ...nodeSelector } : undefined,
      tolerations: tolerations?.length ? tolerations.map(bareToleration) : undefined,
    }),
  };
}

const TOLERATION_FIELDS = ["key", "operator", "value", "effect", "tolerationSeconds"];

/** A toleration with its set fields only: in third-party kinds it has not been validated. */
function bareToleration(toleration: unknown): JsonObject {
  return isObject(toleration)
    ? Object.fromEntries(
        TOLERATION_FIELDS.flatMap((field) => (toleration[field] === undefined ? [] : [[field, toleration[field]]])),
      )
    : {};
}

/** The sum of all containers, or the largest init container if that is more, plus the overhead of the runtime class. */
function resourceRequestOf({
  containers = [],
  initContainers = [],
  overhead = {},
}: DeepReadonly<NonNullable<PodTemplate["spec"]>>): Record<string, string> | undefined {
  const total: Amounts = new Map();
  for (const container of containers) {
    for (const [name, amount] of requestsOf(container)) total.set(name, addQuantities(total.get(name) ?? ZERO, amount));
  }
  for (const container of initContainers) {
    for (const [name, amount] of requestsOf(container)) {
      if (compareQuantities(amount, total.get(name) ?? ZERO) > 0) total.set(name, amount);
    }
  }
  for (const [name, amount] of requestsOf({ resources: { requests: overhead } }))
    total.set(name, addQuantities(total.get(name) ?? ZERO, amount));

  const request: Record<string, string> = {};
  for (const [name, amount] of total) if (compareQuantities(amount, ZERO) > 0) request[name] = formatQuantity(amount);
  return Object.keys(request).length > 0 ? request : undefined;
}

/** A container's requests; a resource with only a limit is requested up to its limit. */
function requestsOf({ resources }: DeepReadonly<ContainerResources>): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, amount] of Object.entries({ ...resources?.limits, ...resources?.requests })) {
    if (isCounted(name)) amounts.set(name, countable(name, parseQuantity(String(amount))));
  }
  return amounts;
}

/** Resources that schedulers count on nodes; clusters do not know other names. */
function isCounted(name: string): boolean {
  return (
    COUNTED.has(name) || name.includes("/") || name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")
  );
}

/** Schedulers count whole thousandths of a CPU and whole units of everything else; finer amounts are rounded up. */
function countable(name: string, quantity: Quantity): Quantity {
  const finest = name === "cpu" ? -3 : 0;
  if (quantity.exponent >= finest) return quantity;
  return name === "cpu"
    ? quantityOfMilli(quantityMilliValue(quantity), quantity.format)
    : quantityOfMilli(quantityValue(quantity) * 1000n, quantity.format);
}
