/**
 * Renews the Lease by which a hub knows that the agent of a member is alive, as Karmada's agent does.
 *
 * Reads:  the Clusters that it serves.
 * Writes: the Lease `karmada-cluster/<cluster>`; one write each interval and member, with the version that was answered last.
 */
import { Cluster, Lease } from "../api/index.ts";
import { formatMicroTime } from "../base/index.ts";
import type { Clock, DeepReadonly, Random } from "../base/index.ts";
import { find } from "../client/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import { LEASE_NAMESPACE } from "../membership/index.ts";
import { defineController, done } from "../runtime/index.ts";
import type { Controller } from "../runtime/index.ts";

/** Karmada's: 40 s, of which a quarter passes between two renewals. */
const DURATION_SECONDS = 40;
const RENEW_EVERY_MS = 10_000;

export interface LeaseDependencies {
  hub: string;
  client: Client;
  serves(cluster: string): boolean;
  clock: Clock;
  random: Random;
}

interface Renewed {
  lease: DeepReadonly<Lease>;
  dueMs: number;
}

export function createLeaseController({ hub, client, serves, clock, random }: LeaseDependencies): Controller<ObjectKey> {
  const renewed = new Map<string, Renewed>();

  async function renew(cluster: DeepReadonly<Cluster>, known: DeepReadonly<Lease> | undefined, signal: AbortSignal): Promise<DeepReadonly<Lease>> {
    const { name, uid = "" } = cluster.metadata;
    const key = { cluster: hub, namespace: LEASE_NAMESPACE, name };
    const before = known ?? (await find(client, Lease, key, { signal }));
    const spec = { ...before?.spec, holderIdentity: name, leaseDurationSeconds: DURATION_SECONDS, renewTime: formatMicroTime(clock.now()) };
    if (before) return client.update(Lease, hub, { ...before, spec }, { signal });
    // It goes with the Cluster.
    const ownerReferences = [{ apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid }];
    return client.create(Lease, hub, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace: LEASE_NAMESPACE, name, ownerReferences }, spec }, { signal });
  }

  return defineController({
    name: "cluster-lease",
    for: Cluster,
    writes: [Lease],

    async reconcile(cluster, { key: { name }, signal }) {
      if (!serves(name) || cluster.spec.syncMode !== "Pull") {
        renewed.delete(name);
        return done;
      }
      const last = renewed.get(name);
      const nowMs = clock.now();
      if (last && nowMs < last.dueMs) return { requeueAfterMs: last.dueMs - nowMs };
      try {
        const lease = await renew(cluster, last?.lease, signal);
        // After the first one members fall out of step, so that a thousand do not renew in the same moment.
        renewed.set(name, { lease, dueMs: nowMs + (last ? RENEW_EVERY_MS : RENEW_EVERY_MS * (0.5 + random.next() / 2)) });
      } catch (error) {
        // Somebody else changed or took it: the next look asks what is there.
        if (isConflict(error) || isNotFound(error)) renewed.delete(name);
        throw error;
      }
      return { requeueAfterMs: (renewed.get(name)?.dueMs ?? nowMs) - nowMs };
    },

    forget: ({ name }) => void renewed.delete(name),
  });
}
