/** Rows of the page: one per member, one per workload with a cell per member. Pure. */
import { SIMULATED_FAULT } from "@flotilla/flotilla";
import { findCondition, quantityMilliValue, tryParseQuantity } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { MemberStatus } from "@flotilla/cli";
import { CORDON_TAINT } from "@flotilla/karmada";
import type { Cluster, ResourceBinding } from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import { workloadId } from "@flotilla/web";
import type { Cell, Health, MemberRow, WorkloadRow } from "@flotilla/web";
import { numberOf } from "./json-access.ts";

/** Pods need a moment to start; `flotilla status` waits as long. */
const START_MS = 60_000;

export function memberRow(
  status: MemberStatus,
  cluster: DeepReadonly<Cluster> | undefined,
  managed: DeepReadonly<ManagedCluster> | undefined,
): MemberRow {
  const annotations = { ...managed?.metadata.annotations, ...cluster?.metadata.annotations };
  const summary = cluster?.status?.resourceSummary;
  const amount = (resource: string): { free: number; all: number } => {
    const all = amountOf(summary?.allocatable?.[resource]);
    const taken = amountOf(summary?.allocated?.[resource]) + amountOf(summary?.allocating?.[resource]);
    return { all, free: Math.max(0, all - taken) };
  };
  return {
    name: status.name,
    mode: status.mode,
    state: stateOf(status),
    message: status.message ?? (status.accepted === false ? "waits until an administrator accepts it" : ""),
    version: status.version,
    nodes: status.nodes,
    cpu: amount("cpu"),
    memory: amount("memory"),
    region: status.region ?? "",
    taints: status.taints,
    cordoned: status.taints.some(
      (taint) => taint.startsWith(`${CORDON_TAINT}:`) || taint.startsWith(`${CORDON_TAINT}=`),
    ),
    cut: annotations[SIMULATED_FAULT] === "unreachable",
    apis: [...(cluster ? ["karmada" as const] : []), ...(managed ? ["ocm" as const] : [])],
    heard: status.heard ?? "",
    created: cluster?.metadata.creationTimestamp ?? managed?.metadata.creationTimestamp ?? "",
  };
}

function stateOf({ ready, available, accepted, isSilent }: MemberStatus): MemberRow["state"] {
  if (ready === undefined || ready === "NoAgent")
    return accepted === false ? "waiting" : available === "True" ? "ready" : "away";
  if (ready !== "True") return "away";
  return isSilent ? "slow" : "ready";
}

/** Cores, or bytes. */
function amountOf(text: string | number | undefined): number {
  const quantity = tryParseQuantity(String(text ?? "0"));
  return quantity ? Number(quantityMilliValue(quantity)) / 1000 : 0;
}

/** What the page knows of the copy on one member: its spec and status, read from the member. */
export type LiveCopy = DeepReadonly<{ spec?: JsonObject; status?: JsonObject }>;

export interface RowInput {
  binding: DeepReadonly<ResourceBinding>;
  /** From `flotilla status`. */
  policy: string;
  isReady(member: string): boolean;
  liveCopy(member: string): LiveCopy | undefined;
  /** What `flotilla status` reports about the workload. */
  problem: string | undefined;
  nowMs: number;
}

export function workloadRow(input: RowInput): WorkloadRow {
  const { binding, policy, isReady, liveCopy, problem, nowMs } = input;
  const { spec, status } = binding;
  const { apiVersion, kind, name, namespace = "" } = spec.resource;
  const conditions = status?.conditions ?? [];
  const unhealthy = findCondition(conditions, "Healthy");
  const isLasting = unhealthy?.status === "False" && nowMs - Date.parse(unhealthy.lastTransitionTime) > START_MS;
  const items = new Map((status?.aggregatedStatus ?? []).map((item) => [item.clusterName, item]));
  const targets = new Map((spec.clusters ?? []).map((target) => [target.name, target.replicas]));
  for (const { clusters = [] } of spec.requiredBy ?? [])
    for (const { name: member } of clusters) if (!targets.has(member)) targets.set(member, undefined);
  const members = [...new Set([...targets.keys(), ...items.keys()])].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  const cells = members.map((member): Cell => {
    const item = items.get(member);
    const live = liveCopy(member);
    const counts = countsOf(live?.status ?? (isObject(item?.status) ? item.status : {}));
    const desired = targets.get(member) ?? numberOf(live?.spec?.["replicas"]) ?? counts.desired ?? -1;
    const ready = desired < 0 && counts.ready === undefined ? -1 : (counts.ready ?? 0);
    const cell = { member, desired, ready, updated: counts.updated ?? -1 };
    const health = ((): Health => {
      if (!isReady(member)) return "stale";
      if (item?.applied === false) return "failed";
      if (!item && !live) return "progressing";
      if (desired >= 0 && ready < desired) return isLasting || problem !== undefined ? "failed" : "progressing";
      if (desired < 0 && item?.health === "Unhealthy") return isLasting ? "failed" : "progressing";
      return "healthy";
    })();
    return { ...cell, health };
  });
  const scheduled = findCondition(conditions, "Scheduled");
  const dispatched = findCondition(conditions, "Dispatched");
  const applied = findCondition(conditions, "FullyApplied");
  // Pods of a rollout that wait for members have not failed.
  const isUndispatched = dispatched?.status === "False" && dispatched.reason !== "RolloutHeld";
  const note =
    problem ??
    (scheduled?.status === "False" ? scheduled.message || scheduled.reason : undefined) ??
    (dispatched?.status === "False" ? dispatched.message || dispatched.reason : undefined) ??
    (applied?.status === "False" ? applied.message || applied.reason : "");
  return {
    id: workloadId({ apiVersion, kind, namespace, name }),
    apiVersion,
    kind,
    namespace,
    name,
    desired: total(cells, "desired") ?? spec.replicas ?? -1,
    ready: total(cells, "ready") ?? (spec.replicas === undefined ? -1 : 0),
    updated: total(cells, "updated") ?? -1,
    health: healthOf(cells, { problem, isDelivered: scheduled?.status !== "False" && !isUndispatched }),
    note: note.slice(0, MAX_NOTE),
    policy,
    cells,
  };
}

/** A message of the scheduler names every member; the page has the whole of it under "why". */
const MAX_NOTE = 240;

function healthOf(
  cells: readonly Cell[],
  { problem, isDelivered }: { problem: string | undefined; isDelivered: boolean },
): Health {
  if (problem !== undefined || !isDelivered) return "failed";
  for (const health of ["failed", "stale", "progressing"] as const)
    if (cells.some((cell) => cell.health === health)) return health;
  return cells.length === 0 ? "unknown" : "healthy";
}

/** The sum of the known values; undefined if there are none. */
function total(cells: readonly Cell[], field: "desired" | "ready" | "updated"): number | undefined {
  let [sum, isKnown] = [0, false];
  for (const cell of cells) if (cell[field] >= 0) [sum, isKnown] = [sum + cell[field], true];
  return isKnown ? sum : undefined;
}

/** DaemonSets count nodes, SidecarSets the pods that they select. */
function countsOf(status: DeepReadonly<JsonObject>): { desired?: number; ready?: number; updated?: number } {
  return {
    desired: numberOf(status["desiredNumberScheduled"]) ?? numberOf(status["matchedPods"]),
    ready: numberOf(status["readyReplicas"]) ?? numberOf(status["numberReady"]) ?? numberOf(status["readyPods"]),
    updated:
      numberOf(status["updatedReplicas"]) ??
      numberOf(status["updatedNumberScheduled"]) ??
      numberOf(status["updatedPods"]),
  };
}
