/**
 * Computes what objects count for in a ResourceQuota. Pods, services and claims (of volumes and of devices) are counted
 * by their usage; all other kinds, including custom ones, by their number. The server checks before it stores an
 * object; the quota controller uses it to recount.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { parseQuantity, quantityValue, compareQuantities, type Quantity } from "@flotilla/apimachinery";
import type {
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
  Service,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import type { ResourceClaim } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { STORAGE_CLASS_ANNOTATION } from "../storageclass/storageclass-rules.ts";
import { ONE, type Amounts } from "./amounts.ts";
import { countsDevices, deviceClaimUsage } from "./device-claims.ts";
import { isTerminating, matchesValue, podIsInScope, podProblem, podUsage } from "./pod-usage.ts";

type ReadObject = DeepReadonly<JsonObject>;
type Requirement = DeepReadonly<ScopedResourceSelectorRequirement>;

export interface QuotaEvaluator {
  /** Whether a write can change the usage. The controller accounts for deletions. */
  handles(operation: "CREATE" | "UPDATE", subresource: string | undefined): boolean;
  /** False for an update that does not change the usage; unset means every handled update is counted. */
  concerns?(object: ReadObject, old: ReadObject): boolean;
  counts(resource: string): boolean;
  usage(object: ReadObject, nowMs: number): Amounts;
  isInScope(object: ReadObject, requirement: Requirement): boolean;
  /** Why the object cannot be counted, when required fields are missing. */
  problem?(object: ReadObject, required: ReadonlySet<string>): string | undefined;
}

/** The name under which the objects of a resource are counted. */
export const countName = (group: string, resource: string): string =>
  group === "" ? `count/${resource}` : `count/${resource}.${group}`;

/** The resource behind such a name. */
export function resourceOfCount(name: string): { group: string; resource: string } | undefined {
  if (!name.startsWith("count/")) return undefined;
  const [resource = "", ...group] = name.slice("count/".length).split(".");
  return { group: group.join("."), resource };
}

/** Kinds that had a quota name before all kinds could be counted. */
const ALIASES = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

const POD_NAMES = new Set([
  "count/pods",
  "pods",
  ...["cpu", "memory", "ephemeral-storage"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
const isExtended = (name: string): boolean =>
  name.startsWith("requests.") && name.includes("/") && !name.includes("kubernetes.io/");

const pods: QuotaEvaluator = {
  handles: (_, subresource) => subresource === undefined || subresource === "resize",
  // A pod that gets a deadline changes its scope; other changes do not affect the usage.
  concerns: (pod, old) => isTerminating(pod as unknown as Pod) !== isTerminating(old as unknown as Pod),
  counts: (name) =>
    POD_NAMES.has(name) || name.startsWith("hugepages-") || name.startsWith("requests.hugepages-") || isExtended(name),
  usage: (pod, nowMs) => podUsage(pod as unknown as Pod, nowMs),
  isInScope: (pod, requirement) => podIsInScope(pod as unknown as Pod, requirement),
  problem: (pod, required) => podProblem(pod as unknown as Pod, required),
};

const whole = (count: number): Quantity => parseQuantity(count);

const SERVICE_NAMES = new Set(["count/services", "services", "services.nodeports", "services.loadbalancers"]);

const services: QuotaEvaluator = {
  handles: (_, subresource) => subresource === undefined,
  counts: (name) => SERVICE_NAMES.has(name),
  usage(object) {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as unknown as DeepReadonly<Service>).spec ?? {};
    const balanced = type === "LoadBalancer";
    const allocated =
      balanced && allocateLoadBalancerNodePorts === false
        ? ports.filter(({ nodePort }) => nodePort).length
        : ports.length;
    return new Map([
      ["count/services", ONE],
      ["services", ONE],
      ["services.nodeports", whole(balanced || type === "NodePort" ? allocated : 0)],
      ["services.loadbalancers", whole(balanced ? 1 : 0)],
    ]);
  },
  isInScope: () => false,
};

const CLASS_SUFFIX = ".storageclass.storage.k8s.io/";
const CLAIM_NAMES = ["persistentvolumeclaims", "requests.storage"];

/** The requested size, or the larger size that a failed expansion still allocates. In whole bytes. */
function storageOf({ spec, status }: DeepReadonly<PersistentVolumeClaim>): Quantity | undefined {
  const asked = spec?.resources?.requests?.storage;
  if (asked === undefined) return undefined;
  const request = parseQuantity(asked);
  const held = status?.allocatedResources?.storage;
  const larger =
    held !== undefined && compareQuantities(parseQuantity(held), request) > 0 ? parseQuantity(held) : request;
  return larger.exponent < 0 ? { ...parseQuantity(String(quantityValue(larger))), format: larger.format } : larger;
}

function attributeClassesOf({ spec, status }: DeepReadonly<PersistentVolumeClaim>): string[] {
  return [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name): name is string => Boolean(name));
}

const claims: QuotaEvaluator = {
  handles: (_, subresource) => subresource === undefined || subresource === "status",
  counts: (name) =>
    name === "count/persistentvolumeclaims" ||
    CLAIM_NAMES.includes(name) ||
    CLAIM_NAMES.some((counted) => name.endsWith(CLASS_SUFFIX + counted)),
  usage(object) {
    const claim = object as unknown as DeepReadonly<PersistentVolumeClaim>;
    const storageClass = claim.metadata.annotations?.[STORAGE_CLASS_ANNOTATION] || claim.spec?.storageClassName;
    const storage = storageOf(claim);
    const used: [string, Quantity][] = [
      ["persistentvolumeclaims", ONE],
      ...(storage ? [["requests.storage", storage] as [string, Quantity]] : []),
    ];
    return new Map([
      ["count/persistentvolumeclaims", ONE],
      ...used,
      ...(storageClass
        ? used.map(([name, amount]): [string, Quantity] => [storageClass + CLASS_SUFFIX + name, amount])
        : []),
    ]);
  },
  isInScope(object, { scopeName, operator, values = [] }) {
    if (scopeName !== "VolumeAttributesClass") return false;
    const classes = attributeClassesOf(object as unknown as DeepReadonly<PersistentVolumeClaim>);
    return classes.length === 0
      ? matchesValue(undefined, operator, values)
      : classes.some((name) => matchesValue(name, operator, values));
  },
};

const deviceClaims: QuotaEvaluator = {
  handles: (_, subresource) => subresource === undefined,
  counts: countsDevices,
  usage: (object) => deviceClaimUsage(object as unknown as DeepReadonly<ResourceClaim>),
  isInScope: () => false,
};

function counted(group: string, resource: string): QuotaEvaluator {
  const names = new Set([countName(group, resource), ...(group === "" && ALIASES.has(resource) ? [resource] : [])]);
  const usage: Amounts = new Map([...names].map((name) => [name, ONE]));
  return {
    handles: (operation, subresource) => operation === "CREATE" && subresource === undefined,
    counts: (name) => names.has(name),
    usage: () => usage,
    isInScope: () => false,
  };
}

const evaluators = new Map<string, QuotaEvaluator>([
  ["/pods", pods],
  ["/services", services],
  ["/persistentvolumeclaims", claims],
  ["resource.k8s.io/resourceclaims", deviceClaims],
]);
/** Bounds the cache against a client that creates CRDs in a loop. */
const MAX_EVALUATORS = 1000;

/** How objects of a resource are counted; undefined for those that are not counted. */
export function quotaEvaluatorOf(group: string, resource: string): QuotaEvaluator | undefined {
  if (resource === "events" && (group === "" || group === "events.k8s.io")) return undefined;
  const key = `${group}/${resource}`;
  const known = evaluators.get(key);
  if (known) return known;
  const made = counted(group, resource);
  if (evaluators.size < MAX_EVALUATORS) evaluators.set(key, made);
  return made;
}

/** Whether a quota counts an object: it limits a resource of its kind, and the object is in every scope. */
export function quotaMatches(
  { spec }: DeepReadonly<ResourceQuota>,
  hard: Iterable<string>,
  evaluator: QuotaEvaluator,
  object: ReadObject,
): boolean {
  let names = false;
  for (const name of hard) names ||= evaluator.counts(name);
  if (!names) return false;
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({
      scopeName: scopeName as Requirement["scopeName"],
      operator: "Exists" as const,
    })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ].every((requirement) => evaluator.isInScope(object, requirement));
}
