/**
 * The status that the hub writes for a ManagedCluster, in one write: acceptance, lease, managed namespaces, and for a
 * member without an agent everything that an agent would report. Pure.
 */
import type { ManagedClusterSet } from "@flotilla/ocm";
import type { ManagedClusterStatus } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import { defined, equalJson, type DeepReadonly } from "@flotilla/base";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";
import { clockSynced, silent, type Read } from "../cluster-conditions.ts";
import { planManagedNamespaces } from "./plan-managed-namespaces.ts";
import { expiresAtMs, isClockSynced, type Renewal } from "./plan-lease.ts";
import type { Report } from "../pairing/plan-report.ts";

type Status = DeepReadonly<ManagedClusterStatus>;

export interface StatusView {
  /** Whether the cluster is accepted; unset for a cluster that never was. */
  access: NextCondition | undefined;
  /** For a member that the hub reaches itself. */
  report: Report | undefined;
  /** For a member with an agent. */
  renewal: Renewal | undefined;
  sets: Iterable<DeepReadonly<ManagedClusterSet>>;
  nowMs: number;
  now: string;
}

/** Undefined if the status is up to date. */
export function planStatus(cluster: Read, view: StatusView): Status | undefined {
  const { access, report, renewal, sets, nowMs, now } = view;
  const before: Status = cluster.status ?? { conditions: [] };
  const reported = report ? report.conditions : renewal ? leaseConditions(cluster, renewal, nowMs) : [];
  const conditions = [...(access ? [access] : []), ...reported].reduce<Status["conditions"]>(
    (all, next) => withCondition(all, next, now),
    before.conditions ?? [],
  );
  const managedNamespaces = planManagedNamespaces(sets, before.managedNamespaces);
  const { capacity, ...facts } = report?.facts ?? {};
  const status: Status = {
    ...before,
    ...defined(facts),
    // Other writers may add resources there that nodes do not have.
    ...defined({ capacity: capacity ? { ...before.capacity, ...capacity } : undefined }),
    conditions,
    ...defined({
      managedNamespaces: managedNamespaces.length > 0 || before.managedNamespaces ? managedNamespaces : undefined,
    }),
  };
  return conditions.length === 0 && managedNamespaces.length === 0 && !cluster.status
    ? undefined
    : equalJson(status, before)
      ? undefined
      : status;
}

/** Only its agent reports a cluster as available; the hub only reports that the agent stopped renewing its lease. */
function leaseConditions(cluster: Read, renewal: Renewal, nowMs: number): NextCondition[] {
  const isSynced = isClockSynced(cluster, renewal);
  return [
    ...(nowMs >= expiresAtMs(cluster, renewal) ? [silent] : []),
    ...(isSynced === undefined ? [] : [clockSynced(isSynced)]),
  ];
}
