/**
 * LimitRanger: defaults for containers without requests and limits, and maximums in a namespace. Also for
 * PersistentVolumeClaims.
 */
import { omitZero } from "@flotilla/base";
import {
  builtInKinds,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  refusal,
} from "@flotilla/apimachinery";
import type { AdmissionStep, Review } from "@flotilla/apimachinery";
import { containerTotals, LimitRange } from "@flotilla/kubernetes";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type Amounts = Readonly<Record<string, string | number>>;
type ReadPod = DeepReadonly<Pod>;
type ReadContainer = DeepReadonly<Container>;

interface Limit {
  readonly type?: string;
  readonly min?: Amounts;
  readonly max?: Amounts;
  readonly default?: Amounts;
  readonly defaultRequest?: Amounts;
  readonly maxLimitRequestRatio?: Amounts;
}

const ANNOTATION = "kubernetes.io/limit-ranger";

type Limited = Pod | PersistentVolumeClaim;

const isPod = (object: DeepReadonly<Limited>): object is ReadPod => object.kind === "Pod";

export const limitRanger: AdmissionStep<Limited> = {
  name: "LimitRanger",
  for: builtInKinds("/Pod", "/PersistentVolumeClaim"),
  on: ["CREATE", "UPDATE"],
  matches: ({ kind: { kind }, operation, subresource }) =>
    kind === "Pod" ? subresource === (operation === "CREATE" ? undefined : "resize") : subresource === undefined,
  complete(review) {
    const { object } = review;
    if (!isPod(object)) return object;
    let pod = object;
    for (const limits of rangesOf(review)) pod = withDefaults(pod, limits);
    return pod;
  },
  check(review) {
    const { object, oldObject } = review;
    if (oldObject?.metadata.deletionTimestamp !== undefined) return;
    for (const limits of rangesOf(review)) {
      const problems = new Set(isPod(object) ? podProblems(object, limits) : claimProblems(object, limits));
      if (problems.size === 0) continue;
      throw refusal(review, problems.size === 1 ? [...problems].join() : `[${[...problems].join(", ")}]`);
    }
  },
};

/** The limits of each LimitRange in the namespace. Most namespaces have none. */
function rangesOf({ namespace, read }: Review<Limited>): readonly (readonly Limit[])[] {
  return read.list(LimitRange, namespace).map(({ spec }) => spec?.limits ?? []);
}

/** Fills in missing requests and limits of a pod's containers, and an annotation that lists them. */
function withDefaults(pod: ReadPod, limits: readonly Limit[]): ReadPod {
  const requests: Record<string, string | number> = {};
  const maxima: Record<string, string | number> = {};
  for (const limit of limits) {
    if (limit.type !== "Container") continue;
    Object.assign(requests, limit.defaultRequest);
    Object.assign(maxima, limit.default);
  }
  const notes: string[] = [];
  const complete =
    (what: string) =>
    (container: ReadContainer): ReadContainer => {
      const { limits: own = {}, requests: asked = {} } = container.resources ?? {};
      const missingRequests = Object.keys(requests)
        .filter((name) => asked[name] === undefined)
        .sort();
      const missingLimits = Object.keys(maxima)
        .filter((name) => own[name] === undefined)
        .sort();
      if (missingRequests.length > 0) notes.push(`${missingRequests.join(", ")} request for ${what} ${container.name}`);
      if (missingLimits.length > 0) notes.push(`${missingLimits.join(", ")} limit for ${what} ${container.name}`);
      if (missingRequests.length + missingLimits.length === 0) return container;
      return {
        ...container,
        resources: { ...container.resources, limits: { ...maxima, ...own }, requests: { ...requests, ...asked } },
      };
    };
  const containers = pod.spec.containers?.map(complete("container"));
  const initContainers = pod.spec.initContainers?.map(complete("init container"));
  if (notes.length === 0) return pod;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}` },
    },
    spec: { ...pod.spec, ...omitZero({ containers, initContainers }) },
  };
}

function claimProblems({ spec }: DeepReadonly<PersistentVolumeClaim>, limits: readonly Limit[]): string[] {
  const { requests = {} } = spec?.resources ?? {};
  return limits.flatMap(({ type, min, max }) => {
    if (type !== "PersistentVolumeClaim") return [];
    return [
      ...each(min, (name, bound) => belowMinimum(type, name, bound, requests[name], undefined)),
      ...each(max, (name, bound) => aboveMaximumRequest(type, name, bound, requests[name])),
    ];
  });
}

function podProblems({ spec }: ReadPod, limits: readonly Limit[]): string[] {
  return limits.flatMap((limit) => {
    if (limit.type === "Container")
      return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
        boundProblems(limit, resources?.requests ?? {}, resources?.limits ?? {}),
      );
    return limit.type === "Pod" ? boundProblems(limit, totals(spec, "requests"), totals(spec, "limits")) : [];
  });
}

function boundProblems(
  { type = "", min, max, maxLimitRequestRatio }: Limit,
  requests: Amounts,
  limits: Amounts,
): string[] {
  return [
    ...each(min, (name, bound) => belowMinimum(type, name, bound, requests[name], limits[name])),
    ...each(max, (name, bound) => aboveMaximum(type, name, bound, requests[name], limits[name])),
    ...each(maxLimitRequestRatio, (name, bound) => aboveRatio(type, name, bound, requests[name], limits[name])),
  ];
}

type Amount = string | number | undefined;

function each(bounds: Amounts = {}, check: (name: string, bound: string | number) => string | undefined): string[] {
  return Object.entries(bounds).flatMap(([name, bound]) => check(name, bound) ?? []);
}

const isLess = (a: string | number, b: string | number): boolean =>
  compareQuantities(parseQuantity(a), parseQuantity(b)) < 0;

function belowMinimum(
  type: string,
  name: string,
  bound: string | number,
  request: Amount,
  limit: Amount,
): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (isLess(request, bound)) return `${rule}, but request is ${request}`;
  return limit !== undefined && isLess(limit, bound) ? `${rule}, but limit is ${limit}` : undefined;
}

function aboveMaximum(
  type: string,
  name: string,
  bound: string | number,
  request: Amount,
  limit: Amount,
): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (isLess(bound, limit)) return `${rule}, but limit is ${limit}`;
  return request !== undefined && isLess(bound, request) ? `${rule}, but request is ${request}` : undefined;
}

function aboveMaximumRequest(type: string, name: string, bound: string | number, request: Amount): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return isLess(bound, request) ? `${rule}, but request is ${request}` : undefined;
}

function aboveRatio(
  type: string,
  name: string,
  bound: string | number,
  request: Amount,
  limit: Amount,
): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`;
  const asked = Number(quantityMilliValue(parseQuantity(request ?? 0)));
  const allowed = Number(quantityMilliValue(parseQuantity(limit ?? 0)));
  if (asked === 0) return `${rule}, but no request is specified or request is 0`;
  if (allowed === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = allowed / asked;
  return ratio * 1000 > Number(quantityMilliValue(parseQuantity(bound)))
    ? `${rule}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined;
}

/** The requests or limits of a pod; pod-level values replace the sum of its containers. */
function totals(spec: ReadPod["spec"], part: "requests" | "limits"): Amounts {
  const sums = Object.entries(containerTotals(spec, part)).map(
    ([name, amount]) => [name, formatQuantity(amount)] as const,
  );
  return { ...Object.fromEntries(sums), ...spec.resources?.[part] };
}
