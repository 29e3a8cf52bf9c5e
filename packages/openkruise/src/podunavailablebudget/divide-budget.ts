/**
 * Divides a PodUnavailableBudget: its number counts the pods of the fleet, and each member gets a part for its own pods.
 * A percentage means the same on every member and is copied.
 */
import { defined, isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { countOf, withSpecField } from "@flotilla/kubernetes";
import type { Share } from "@flotilla/kubernetes";
import { areWhole, countsPerCluster } from "../divide/counted-pods.ts";
import { inProportion, planAvailable, planUnavailable } from "./plan-parts.ts";
import type { MemberPods } from "./plan-parts.ts";
import { PROTECT_TOTAL_REPLICAS_ANNOTATION } from "./podunavailablebudget-versions.ts";

export interface DividedBudget extends KubernetesObject {
  spec?: {
    maxUnavailable?: number | string;
    minAvailable?: number | string;
    protectTotalReplicas?: number;
    targetRef?: { apiVersion?: string; kind?: string; name?: string };
    selector?: JsonObject;
  };
  status?: JsonObject;
}

type Copy = DeepReadonly<DividedBudget>;
type Field = "maxUnavailable" | "minAvailable";

export function divideBudget(budget: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const isCopied = countsPerCluster(budget) || areWhole(shares);
  const parted = isCopied ? shares.map(() => budget) : withParts(withProtected(budget, shares), budget, shares);
  return new Map(
    shares.flatMap(({ cluster, leaving }, index) => {
      const copy = parted[index];
      return leaving || !copy ? [] : [[cluster, copy] as const];
    }),
  );
}

function withParts(copies: readonly Copy[], { spec = {} }: Copy, shares: readonly Share[]): readonly Copy[] {
  const field: Field =
    spec.minAvailable === undefined || spec.minAvailable === null ? "maxUnavailable" : "minAvailable";
  const amount = spec[field];
  if (typeof amount !== "number") return copies;
  const members = shares.map((share) => memberOf(share, field, spec.protectTotalReplicas !== undefined));
  const plan = field === "maxUnavailable" ? planUnavailable : planAvailable;
  const parts = plan(Math.max(0, Math.trunc(amount)), members);
  return copies.map((copy, index) => withSpecField(copy, field, parts[index] ?? 0));
}

function memberOf({ observed, workloads, copy, leaving }: Share, field: Field, isProtected: boolean): MemberPods {
  const status = isObject(observed) ? observed : undefined;
  const total = numberIn(status, "totalReplicas");
  const desired = numberIn(status, "desiredAvailable");
  const unavailable = Math.max(0, (total ?? 0) - (numberIn(status, "currentAvailable") ?? total ?? 0));
  const given = copy && (copy as Copy).spec?.[field];
  const dispatched = typeof given === "number" ? given : undefined;
  const enforced =
    field === "minAvailable" ? desired : desired !== undefined ? Math.max(0, (total ?? 0) - desired) : undefined;
  return {
    // A protected total is what the copy says, and not what the member has.
    size: isProtected ? workloads?.replicas : (total ?? workloads?.replicas),
    unavailable,
    isUpdating: (workloads?.unsettled ?? 0) > 0,
    inEffect: field === "minAvailable" ? least(dispatched, enforced) : most(dispatched, enforced, unavailable),
    ...defined({ isLeaving: leaving }),
  };
}

/** `protectTotalReplicas` is the number of pods of the fleet. */
function withProtected(budget: Copy, shares: readonly Share[]): readonly Copy[] {
  const { metadata, spec = {} } = budget;
  const text = metadata.annotations?.[PROTECT_TOTAL_REPLICAS_ANNOTATION] ?? "";
  const isAnnotated = spec.protectTotalReplicas === undefined && /^\d{1,9}$/.test(text);
  const total = isAnnotated ? Number(text) : spec.protectTotalReplicas;
  if (total === undefined || total === null) return shares.map(() => budget);
  const parts = inProportion(
    total,
    shares.map(({ workloads, leaving }) => ({ size: workloads?.replicas, ...defined({ isLeaving: leaving }) })),
  );
  return parts.map((part) => {
    if (!isAnnotated) return withSpecField(budget, "protectTotalReplicas", Math.max(1, part));
    const annotations = { ...metadata.annotations, [PROTECT_TOTAL_REPLICAS_ANNOTATION]: String(part) };
    return { ...budget, metadata: { ...metadata, annotations } };
  });
}

const numberIn = (status: JsonObject | undefined, field: string): number | undefined =>
  typeof status?.[field] === "number" ? countOf(status[field]) : undefined;

function most(...parts: readonly (number | undefined)[]): number | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

function least(...parts: readonly (number | undefined)[]): number | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
