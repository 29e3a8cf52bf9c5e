/**
 * Renews the Lease by which a hub knows that the agent of a member is alive: Karmada's for a Cluster that pulls, Open
 * Cluster Management's for a ManagedCluster.
 *
 * Reads: the object that stands for the member.
 * Writes: its Lease; one write each interval, with the version that was answered last.
 */
import { Cluster, CLUSTER_LEASE, Lease, ManagedCluster } from "../api/index.ts";
import type { Kind, KubernetesObject } from "../api/index.ts";
import { formatMicroTime } from "../base/index.ts";
import type { Clock, DeepReadonly, Log, Random } from "../base/index.ts";
import { find } from "../client/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isConditionTrue, isConflict, isNotFound } from "../machinery/index.ts";
import { LEASE_NAMESPACE } from "../membership/index.ts";
import { defineController, done } from "../runtime/index.ts";
import type { Controller } from "../runtime/index.ts";

interface LeasePlan {
  namespace: string;
  name: string;
  holder: string;
  /** Unset leaves what the hub wrote. */
  durationSeconds?: number;
  everyMs: number;
  /** The hub makes the other kind. */
  isMadeHere: boolean;
}

export interface LeaseDependencies {
  hub: string;
  client: Client;
  serves(cluster: string): boolean;
  /** Told the version of every renewal. */
  onRenewal(resourceVersion: string): void;
  clock: Clock;
  random: Random;
}

/** Karmada's: 40 s, of which a quarter passes between two renewals. */
const KARMADA_DURATION_SECONDS = 40;
const KARMADA_EVERY_MS = 10_000;
const DEFAULT_MANAGED_SECONDS = 60;
/** Renewals come up to a quarter later by chance, so that a thousand members do not renew in the same moment. */
const JITTER = 0.25;
/**
 * Renewals in a row before each of which somebody else had renewed: a hub that was restored or a restarted agent is
 * one, never more.
 */
const SURELY_CONTESTED = 2;
const TELL_EVERY_MS = 10 * 60_000;

export function createClusterLeaseController(deps: LeaseDependencies): Controller<ObjectKey> {
  return createLeaseController("cluster-lease", Cluster, deps, ({ metadata: { name }, spec }) =>
    spec.syncMode === "Pull"
      ? {
          namespace: LEASE_NAMESPACE,
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
    // Before that there is no Lease, and no right to renew it.
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
  { hub, client, serves, onRenewal, clock, random }: LeaseDependencies,
  planOf: (object: DeepReadonly<T>) => LeasePlan | undefined,
): Controller<ObjectKey> {
  const renewed = new Map<string, { lease: DeepReadonly<Lease>; atMs: number; dueMs: number }>();
  /** How often in a row somebody else was faster, and when that was last told. */
  const contested = new Map<string, { times: number; toldMs: number }>();

  /** Both would apply and report everything, and nobody would know. It is told now and then, as long as it lasts. */
  function tellContested(name: string, log: Log): void {
    const { times, toldMs } = contested.get(name) ?? { times: 0, toldMs: Number.NEGATIVE_INFINITY };
    const isDue = times + 1 >= SURELY_CONTESTED && clock.now() - toldMs >= TELL_EVERY_MS;
    contested.set(name, { times: times + 1, toldMs: isDue ? clock.now() : toldMs });
    if (isDue)
      log.warn(
        "another agent serves this cluster too: its Lease on the hub is renewed by two; stop one of them, or start both with --leader-elect",
        { member: name },
      );
  }

  async function renew(
    object: DeepReadonly<T>,
    { namespace, name, holder, durationSeconds, isMadeHere }: LeasePlan,
    known: DeepReadonly<Lease> | undefined,
    signal: AbortSignal,
  ): Promise<DeepReadonly<Lease> | undefined> {
    const before = known ?? (await find(client, Lease, { cluster: hub, namespace, name }, { signal }));
    const spec = {
      ...before?.spec,
      holderIdentity: holder,
      ...(durationSeconds !== undefined && { leaseDurationSeconds: durationSeconds }),
      renewTime: formatMicroTime(clock.now()),
    };
    if (before) return client.update(Lease, hub, { ...before, spec }, { signal });
    if (!isMadeHere) return undefined;
    // It goes with what it is about.
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
      // A clock that was put back must not make it wait for the old time to come again.
      if (last && nowMs >= last.atMs && nowMs < last.dueMs) return { requeueAfterMs: last.dueMs - nowMs };
      const everyMs = plan.everyMs * (plan.isMadeHere ? 1 - JITTER * random.next() : 1 + JITTER * random.next());
      try {
        const lease = await renew(object, plan, last?.lease, signal);
        const rival = last && contested.get(name);
        if (rival) contested.set(name, { ...rival, times: 0 });
        if (lease) {
          renewed.set(name, { lease, atMs: nowMs, dueMs: nowMs + everyMs });
          onRenewal(lease.metadata.resourceVersion ?? "");
        }
      } catch (error) {
        // Somebody else changed or took it: the next look asks what is there.
        if (isConflict(error) && last) tellContested(name, log);
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
