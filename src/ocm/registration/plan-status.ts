/**
 * What the hub writes into the status of a ManagedCluster, all of it at once: whether it is accepted, what its lease
 * says, which namespaces it is to have, and of a member without an agent everything that an agent would say. Pure.
 */
import type { ManagedClusterSet, ManagedClusterStatus } from "../../api/index.ts";
import { defined, equalJson, type DeepReadonly } from "../../base/index.ts";
import { withCondition, type NextCondition } from "../../machinery/index.ts";
import { clockSynced, silent, type Read } from "./conditions.ts";
import { planManagedNamespaces } from "./plan-managed-namespaces.ts";
import { expiresAtMs, isClockSynced, type Renewal } from "./plan-lease.ts";

type Status = DeepReadonly<ManagedClusterStatus>;

/** What stands for an agent where there is none. */
export interface Report {
  conditions: readonly NextCondition[];
  /** Unset keeps what was last known, as of a member that does not answer. */
  facts?: Pick<Status, "version" | "capacity" | "allocatable" | "clusterClaims">;
}

export interface StatusView {
  /** Whether it is accepted; unset for a cluster that never was. */
  access: NextCondition | undefined;
  /** Of a member that the hub reaches itself. */
  report: Report | undefined;
  /** Of a member with an agent. */
  renewal: Renewal | undefined;
  sets: Iterable<DeepReadonly<ManagedClusterSet>>;
  nowMs: number;
  now: string;
}

/** Undefined when the status says it all already. */
export function planStatus(
  cluster: Read,
  { access, report, renewal, sets, nowMs, now }: StatusView,
): Status | undefined {
  const before: Status = cluster.status ?? { conditions: [] };
  const told = report ? report.conditions : renewal ? leaseConditions(cluster, renewal, nowMs) : [];
  const conditions = [...(access ? [access] : []), ...told].reduce<Status["conditions"]>(
    (all, next) => withCondition(all, next, now),
    before.conditions ?? [],
  );
  const managedNamespaces = planManagedNamespaces(sets, before.managedNamespaces);
  const { capacity, ...facts } = report?.facts ?? {};
  const status: Status = {
    ...before,
    ...defined(facts),
    // Others may count there what nodes do not have.
    ...(capacity && { capacity: { ...before.capacity, ...capacity } }),
    conditions,
    ...((managedNamespaces.length > 0 || before.managedNamespaces) && { managedNamespaces }),
  };
  return conditions.length === 0 && managedNamespaces.length === 0 && !cluster.status
    ? undefined
    : equalJson(status, before)
      ? undefined
      : status;
}

/** Only its agent says that a cluster is available; that it is not heard of any more is for the hub to say. */
function leaseConditions(cluster: Read, renewal: Renewal, nowMs: number): NextCondition[] {
  const isSynced = isClockSynced(cluster, renewal);
  return [
    ...(nowMs >= expiresAtMs(cluster, renewal) ? [silent] : []),
    ...(isSynced === undefined ? [] : [clockSynced(isSynced)]),
  ];
}
