/** Builds one row per member, whichever registrations it has. Pure. */
import type { Cluster } from "@flotilla/karmada";
import type { Lease } from "@flotilla/kubernetes";
import type { ManagedCluster } from "@flotilla/ocm";
import {
  findCondition,
  formatAge,
  quantityMilliValue,
  subtractQuantities,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { MemberStatus } from "./fleet-status.ts";
import { isSilent, whyNotReady } from "../health/member-readiness.ts";
import { isClockWrong, renewalsOf } from "../health/renewals.ts";
import type { Renewal } from "../health/renewals.ts";

type Registrations = { cluster?: DeepReadonly<Cluster>; managed?: DeepReadonly<ManagedCluster> };

export interface MemberInput {
  clusters: readonly DeepReadonly<Cluster>[];
  managedClusters: readonly DeepReadonly<ManagedCluster>[];
  /** Karmada's and Open Cluster Management's; others are ignored. */
  leases: readonly DeepReadonly<Lease>[];
  nowMs: number;
}

const GIBIBYTE = 2 ** 30;

export function summariseMembers({ clusters, managedClusters, leases, nowMs }: MemberInput): MemberStatus[] {
  const apis = new Map<string, Registrations>();
  for (const cluster of clusters) apis.set(cluster.metadata.name, { cluster });
  for (const managed of managedClusters)
    apis.set(managed.metadata.name, { ...apis.get(managed.metadata.name), managed });
  const renewals = renewalsOf(leases);
  return [...apis]
    .toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([name, each]) => summariseMember(name, each, renewals.get(name), nowMs));
}

function summariseMember(
  name: string,
  { cluster, managed }: Registrations,
  renewal: Renewal | undefined,
  nowMs: number,
): MemberStatus {
  const mode = cluster?.spec.syncMode === "Push" ? "push" : "pull";
  const free = cluster && freeOf(cluster);
  const nodes = cluster?.status?.nodeSummary;
  const leaving = [
    ...(cluster?.metadata.deletionTimestamp ? ["karmada" as const] : []),
    ...(managed?.metadata.deletionTimestamp ? ["ocm" as const] : []),
  ];
  const created = [cluster, managed].flatMap((face) => face?.metadata.creationTimestamp ?? []).toSorted()[0] ?? "";
  // No agent renews the lease of a push-mode member.
  const agent = mode === "pull" ? renewal : undefined;
  return {
    name,
    mode,
    ready: cluster ? readyOf(cluster, managed) : undefined,
    message: cluster && whyNotReady(cluster),
    available: managed
      ? (findCondition(managed.status?.conditions, "ManagedClusterConditionAvailable")?.status ?? "Unknown")
      : undefined,
    accepted: managed ? managed.spec.hubAcceptsClient === true : undefined,
    leaving: leaving.length > 0 ? leaving : undefined,
    version: cluster?.status?.kubernetesVersion ?? managed?.status?.version?.kubernetes ?? "",
    nodes: nodes ? `${nodes.readyNum ?? 0}/${nodes.totalNum ?? 0}` : "",
    free,
    taints: taintsOf(cluster, managed),
    region: cluster?.spec.region || undefined,
    heard: agent?.at,
    isSilent: (agent && nowMs - agent.atMs > agent.holdsMs) || undefined,
    clockAheadMs: agent && isClockWrong(agent) ? agent.clockAheadMs : undefined,
    age: formatAge(nowMs - Date.parse(created)),
  };
}

/** An Open Cluster Management agent applies works only; policies cannot use its member, which is not a problem. */
function readyOf(cluster: DeepReadonly<Cluster>, managed: Registrations["managed"]): string {
  const { spec, status } = cluster;
  const ready = findCondition(status?.conditions, "Ready");
  const isUnserved = ready === undefined || ready.reason === "ClusterStatusNeverUpdated";
  if (spec.syncMode === "Pull" && isUnserved && managed) return "NoAgent";
  return isSilent(cluster) ? "NotResponding" : (ready?.status ?? "Unknown");
}

/** Whole gibibytes, and cores with one digit, are precise enough. */
function freeOf({ status }: DeepReadonly<Cluster>): MemberStatus["free"] {
  const { allocatable, allocated, allocating } = status?.resourceSummary ?? {};
  const left = (resource: string): number | undefined => {
    const all = tryParseQuantity(allocatable?.[resource] ?? "");
    const taken = [allocated, allocating].flatMap((summary) => tryParseQuantity(summary?.[resource] ?? "0") ?? []);
    return all && Math.max(0, Number(quantityMilliValue(taken.reduce(subtractQuantities, all))) / 1000);
  };
  const [cpu, memory] = [left("cpu"), left("memory")];
  return cpu === undefined || memory === undefined
    ? undefined
    : { cpu: String(Math.floor(cpu * 10) / 10), memory: `${Math.floor(memory / GIBIBYTE)}Gi` };
}

/**
 * Both registrations have the same taints under different keys. Each is shown once, including those of only one
 * registration.
 */
function taintsOf(cluster: Registrations["cluster"], managed: Registrations["managed"]): string[] {
  const textOf = ({ key, value }: { readonly key: string; readonly value?: string }): string =>
    value ? `${key}=${value}` : key;
  const taints = new Map<string, string>();
  for (const taint of [...(cluster?.spec.taints ?? []), ...(managed?.spec.taints ?? [])])
    if (!taints.has(textOf(taint))) taints.set(textOf(taint), taint.effect);
  return Array.from(taints, ([text, effect]) => `${text}:${effect}`);
}
