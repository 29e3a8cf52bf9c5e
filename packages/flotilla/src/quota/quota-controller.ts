/**
 * FederatedResourceQuota: gives members the ResourceQuotas of the static assignments, and counts what the namespace uses.
 *
 * Reads: FederatedResourceQuota, ResourceBinding, Cluster; the status of its Works.
 * Writes: Work, one per static assignment; FederatedResourceQuota status. Admission adds to `overallUsed`
 * (`quota-enforcement.ts`); this controller releases what bindings give back. Both use compare-and-set.
 */
import { createMergePatch } from "@flotilla/apimachinery";
import { defined, equalJson, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, OwnedSet } from "@flotilla/controller-runtime";
import { addAmounts, subtractAmounts, writeAmounts } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import { Cluster, FederatedResourceQuota, QUOTA_NAME, QUOTA_NAMESPACE, ResourceBinding, Work } from "@flotilla/karmada";
import { usageOfBinding } from "./binding-usage.ts";
import { planQuotaUsage } from "./plan-quota-usage.ts";
import { planAggregatedStatus, planQuotaWorks } from "./plan-quota-works.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;

/** Longer than a write may take after its reservation. */
const QUIET_MS = 60_000;
const NONE: Amounts = new Map();

export interface QuotaDependencies {
  hub: string;
  client: Client;
  quotas: Lister<FederatedResourceQuota>;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  worksOf(quota: ObjectKey): readonly DeepReadonly<Work>[];
  works: OwnedSet<Work, ObjectKey>;
  events: EventRecorder;
  clock: Clock;
}

export function createQuotaController(deps: QuotaDependencies): Controller<ObjectKey> {
  const { hub, client, quotas, bindings, clusters, worksOf, works, events, clock } = deps;
  /** What bindings gave back since the last status, by quota. */
  const givenBack = new Map<string, Amounts>();
  /** Since when a quota has more reserved than its bindings use, and at which usage. */
  const above = new Map<string, { sinceMs: number; used: Json }>();
  const keysIn = (namespace: string | undefined): ObjectKey[] =>
    quotas
      .list({ cluster: hub, namespace })
      .map(({ metadata }) => ({ cluster: hub, namespace: metadata.namespace, name: metadata.name }));

  return defineKeyedController<ObjectKey>({
    name: "federated-quota",
    idOf: idOfKey,
    sources: [
      watch(FederatedResourceQuota, ({ object: { metadata } }) => [
        { cluster: hub, namespace: metadata.namespace, name: metadata.name },
      ]),
      watch<ResourceBinding>(ResourceBinding, ({ object, old, deleted }) => {
        const keys = keysIn(object.metadata.namespace);
        if (keys.length === 0 || (old && !deleted && old.spec === object.spec)) return [];
        const before = old ?? (deleted ? object : undefined);
        const lost = before ? subtractAmounts(usageOfBinding(before), deleted ? NONE : usageOfBinding(object)) : NONE;
        for (const key of keys) givenBack.set(idOfKey(key), addAmounts(givenBack.get(idOfKey(key)) ?? NONE, lost));
        return keys;
      }),
      watch(Work, ({ object: { metadata } }) => {
        const { [QUOTA_NAMESPACE]: namespace, [QUOTA_NAME]: name } = metadata.labels ?? {};
        return namespace && name ? [{ cluster: hub, namespace, name }] : [];
      }),
      // A member that joins or leaves.
      watch(Cluster, ({ object, old, deleted }) =>
        old && !deleted
          ? []
          : quotas
              .list({ cluster: hub })
              .filter(({ spec }) =>
                spec.staticAssignments?.some(({ clusterName }) => clusterName === object.metadata.name),
              )
              .map(({ metadata }) => ({ cluster: hub, namespace: metadata.namespace, name: metadata.name })),
      ),
    ],
    writes: [Work, FederatedResourceQuota],

    async reconcile(key, { signal }) {
      const quota = quotas.get(key);
      const members = new Set(clusters.list({ cluster: hub }).map(({ metadata }) => metadata.name));
      try {
        await works.replace(key, quota ? planQuotaWorks(quota, members) : [], signal);
      } catch (error) {
        if (quota) events.record(hub, quota, { type: "Warning", reason: "SyncWorkFailed", message: messageOf(error) });
        // What the namespace uses is counted whether or not each member has its ResourceQuota.
        if (quota && !quota.metadata.deletionTimestamp) await writeStatus(quota, key, signal);
        throw error;
      }
      if (quota && !quota.metadata.deletionTimestamp) return writeStatus(quota, key, signal);
      givenBack.delete(idOfKey(key));
      above.delete(idOfKey(key));
      return done;
    },
  });

  async function writeStatus(quota: Quota, key: ObjectKey, signal: AbortSignal): Promise<{ requeueAfterMs?: number }> {
    const id = idOfKey(key);
    const nowMs = clock.now();
    const given = givenBack.get(id) ?? NONE;
    const known = above.get(id);
    const isQuiet =
      known !== undefined &&
      equalJson(known.used, quota.status?.overallUsed ?? {}) &&
      nowMs - known.sinceMs >= QUIET_MS;
    const own = bindings.list({ cluster: hub, namespace: key.namespace });
    const { used, isAbove } = planQuotaUsage(quota, own, given, isQuiet);
    const status = {
      overall: quota.spec.overall,
      overallUsed: writeAmounts(used),
      aggregatedStatus: planAggregatedStatus(quota, worksOf(key)),
    };
    if (!equalJson(status, quota.status)) {
      const change = {
        metadata: { resourceVersion: quota.metadata.resourceVersion },
        // A key that the quota no longer has is removed from the maps too.
        status: createMergePatch((quota.status ?? {}) as Json, defined(status) as Json),
      } as Json;
      const written = await unlessChanged(
        client.patch(FederatedResourceQuota, key, change, { type: "merge", subresource: "status", signal }),
      );
      // The other change is an event for this controller, and what was given back is subtracted then.
      if (!written) return done;
    }
    // What was given back while this was written is subtracted next.
    const left = subtractAmounts(givenBack.get(id) ?? NONE, given);
    if ([...left.values()].some(({ mantissa }) => mantissa > 0n)) givenBack.set(id, left);
    else givenBack.delete(id);
    if (!isAbove) {
      above.delete(id);
      return done;
    }
    const usage: Json = status.overallUsed;
    if (!known || !equalJson(known.used, usage)) above.set(id, { sinceMs: nowMs, used: usage });
    return { requeueAfterMs: QUIET_MS };
  }
}
