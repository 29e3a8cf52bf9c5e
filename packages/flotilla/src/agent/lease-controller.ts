/**
 * Renews the Lease that serves as an agent's heartbeat: Karmada's for a pull-mode Cluster, Open Cluster Management's
 * for a ManagedCluster.
 *
 * Reads: the Cluster or ManagedCluster of the member.
 * Writes: its Lease; one write per interval, with the last returned resourceVersion.
 */
import { Cluster, KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import { CLUSTER_LEASE, ManagedCluster } from "@flotilla/ocm";
import { Lease } from "@flotilla/kubernetes";
import { isConditionTrue, isConflict, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { formatMicroTime, defined } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";

interface LeasePlan {
  namespace: string;
  name: string;
  holder: string;
  /** Unset keeps the hub's value. */
  durationSeconds?: number;
  everyMs: number;
  /** False for the kind whose Lease the hub creates. */
  isMadeHere: boolean;
}

export interface LeaseDependencies {
  hub: string;
  client: Client;
  serves(cluster: string): boolean;
  /** Called with the resourceVersion of every renewal. */
  onRenewal(resourceVersion: string): void;
  clock: Clock;
  random: Random;
}

/** Karmada's default: 40 s, with a renewal every quarter of it. */
const KARMADA_DURATION_SECONDS = 40;
const KARMADA_EVERY_MS = 10_000;
const DEFAULT_MANAGED_SECONDS = 60;
/** Renewals are delayed by up to a random quarter, so that a thousand members do not renew at the same moment. */
const JITTER = 0.25;
/**
 * Consecutive renewals that each found a foreign renewal. A restored hub or a restarted agent causes one, never more.
 */
const SURELY_CONTESTED = 2;
const REPORT_EVERY_MS = 10 * 60_000;

export function createClusterLeaseController(deps: LeaseDependencies): Controller<ObjectKey> {
  return createLeaseController("cluster-lease", Cluster, deps, ({ metadata: { name }, spec }) =>
    spec.syncMode === "Pull"
      ? {
          namespace: KARMADA_CLUSTER_NAMESPACE,
          name,
          holder: name,
          durationSeconds: KARMADA_DURATION_SECONDS,
          everyMs: KARMADA_EVERY_MS,
          isMadeHere: true,
        }
      : undefined,
  );
}

export function createManagedClusterLeaseController(deps: LeaseDependencies): Controller<ObjectKey> {
  return createLeaseController("managed-cluster-lease", ManagedCluster, deps, ({ metadata: { name }, spec, status }) =>
    // Until then there is no Lease, and no permission to renew it.
    isConditionTrue(status?.conditions ?? [], "HubAcceptedManagedCluster")
      ? {
          namespace: name,
          name: CLUSTER_LEASE,
          holder: CLUSTER_LEASE,
          everyMs: (spec.leaseDurationSeconds || DEFAULT_MANAGED_SECONDS) * 1_000,
          isMadeHere: false,
        }
      : undefined,
  );
}

function createLeaseController<T extends KubernetesObject>(
  controller: string,
  kind: Kind<T>,
  deps: LeaseDependencies,
  planOf: (object: DeepReadonly<T>) => LeasePlan | undefined,
): Controller<ObjectKey> {
  const { hub, client, serves, onRenewal, clock, random } = deps;
  const renewed = new Map<string, { lease: DeepReadonly<Lease>; atMs: number; dueMs: number }>();
  /** How many times in a row another agent renewed first, and when that was last logged. */
  const contested = new Map<string, { times: number; reportedMs: number }>();

  /** Two agents would both apply and report everything, unnoticed. The warning repeats while the conflict lasts. */
  function warnContested(name: string, log: Log): void {
    const { times, reportedMs } = contested.get(name) ?? { times: 0, reportedMs: Number.NEGATIVE_INFINITY };
    const isDue = times + 1 >= SURELY_CONTESTED && clock.now() - reportedMs >= REPORT_EVERY_MS;
    contested.set(name, { times: times + 1, reportedMs: isDue ? clock.now() : reportedMs });
    if (isDue)
      log.warn(
        "another agent serves this cluster too: two agents renew its Lease on the hub; stop one of them, or start both with --leader-elect",
        { member: name },
      );
  }

  async function renew(
    object: DeepReadonly<T>,
    plan: LeasePlan,
    known: DeepReadonly<Lease> | undefined,
    signal: AbortSignal,
  ): Promise<DeepReadonly<Lease> | undefined> {
    const { namespace, name, holder, durationSeconds, isMadeHere } = plan;
    const before = known ?? (await find(client, Lease, { cluster: hub, namespace, name }, { signal }));
    const spec = {
      ...before?.spec,
      holderIdentity: holder,
      ...defined({ leaseDurationSeconds: durationSeconds }),
      renewTime: formatMicroTime(clock.now()),
    };
    if (before) return client.update(Lease, hub, { ...before, spec }, { signal });
    if (!isMadeHere) return undefined;
    // The Lease is garbage-collected with its cluster object.
    const ownerReferences = [
      { apiVersion: object.apiVersion, kind: object.kind, name: object.metadata.name, uid: object.metadata.uid ?? "" },
    ];
    return client.create(
      Lease,
      hub,
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name, ownerReferences }, spec },
      { signal },
    );
  }

  return defineController({
    name: controller,
    for: kind,
    writes: [Lease],

    async reconcile(object, { key: { name }, log, signal }) {
      const plan = serves(name) ? planOf(object) : undefined;
      if (!plan) {
        renewed.delete(name);
        return done;
      }
      const last = renewed.get(name);
      const nowMs = clock.now();
      // A clock that was set back must not delay the renewal until the old time comes again.
      if (last && nowMs >= last.atMs && nowMs < last.dueMs) return { requeueAfterMs: last.dueMs - nowMs };
      const everyMs = plan.everyMs * (plan.isMadeHere ? 1 - JITTER * random.next() : 1 + JITTER * random.next());
      try {
        const lease = await renew(object, plan, last?.lease, signal);
        const competitor = last && contested.get(name);
        if (competitor) contested.set(name, { ...competitor, times: 0 });
        if (lease) {
          renewed.set(name, { lease, atMs: nowMs, dueMs: nowMs + everyMs });
          onRenewal(lease.metadata.resourceVersion ?? "");
        }
      } catch (error) {
        // Another client changed or deleted it: the next attempt reads it again.
        if (isConflict(error) && last) warnContested(name, log);
        if (isConflict(error) || isNotFound(error)) renewed.delete(name);
        throw error;
      }
      return { requeueAfterMs: everyMs };
    },

    forget({ name }) {
      renewed.delete(name);
      contested.delete(name);
    },
  });
}
