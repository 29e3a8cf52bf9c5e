/**
 * Garbage collection on members: what a workload made goes after the workload has gone.
 *
 * Reads:  the kinds that own and are owned by workloads.
 * Writes: deletes of ReplicaSet, ControllerRevision and Pod.
 * Only controller references count, and an owner counts as gone only when the server says so, not when a view lacks it.
 * Foreground and orphan deletion are the API server's, which holds the owner or frees what it owns before it goes.
 */
import { CloneSet, Deployment, ReplicaSet, controllerOf, gvkOf } from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { isNotFound } from "../../machinery/index.ts";
import { defineKeyedController, done, keyOf, watch } from "../../runtime/index.ts";
import type { Controller } from "../../runtime/index.ts";
import type { WorkloadDependencies } from "../dependencies.ts";
import { unlessChanged } from "../optimistic.ts";
import { OWNED_KINDS, ownedBy } from "../ownership.ts";
import { writeAll } from "../write-all.ts";

const OWNER_KINDS: readonly Kind[] = [Deployment, ReplicaSet, CloneSet];

interface OwnerKey {
  kind: Kind;
  key: ObjectKey;
  uid: string;
}

export function createGarbageCollector({ client, informers }: WorkloadDependencies): Controller<OwnerKey> {
  return defineKeyedController<OwnerKey>({
    name: "garbage-collection",
    writes: OWNED_KINDS,
    sources: [
      ...OWNER_KINDS.map((kind) => watch(kind, ({ cluster, object, deleted }) => (deleted ? [{ kind, key: keyOf(cluster, object), uid: object.metadata.uid ?? "" }] : []))),
      // An owner may have gone while nobody watched, so what it left behind leads here too.
      ...OWNED_KINDS.map((kind) => watch(kind, ({ cluster, object, deleted }) => (deleted ? [] : missingOwner(cluster, object)))),
    ],
    idOf: ({ kind, key, uid }) => `${kind.kind}/${key.cluster}/${uid}`,

    async reconcile(owner, { log, signal }) {
      if (await exists(owner, signal)) return done;
      const dependents = OWNED_KINDS.flatMap((kind) => ownedBy(informers.of(kind), owner.key.cluster, owner.uid).map((object) => ({ kind, object }))).filter(({ object }) => !object.metadata.deletionTimestamp);
      await writeAll("deletions of dependents", dependents, async ({ kind, object }) => {
        await unlessChanged(client.delete(kind, keyOf(owner.key.cluster, object), { propagationPolicy: "Background", preconditions: { uid: object.metadata.uid ?? "" }, signal }));
      });
      if (dependents.length > 0) log.info("dependents deleted", { owner: owner.kind.kind, deleted: dependents.length });
      return done;
    },
  });

  function missingOwner(cluster: string, object: DeepReadonly<KubernetesObject>): OwnerKey[] {
    const reference = controllerOf(object);
    if (!reference || object.metadata.deletionTimestamp) return [];
    const { group, kind } = gvkOf(reference);
    const ownerKind = OWNER_KINDS.find((candidate) => candidate.kind === kind && candidate.group === group);
    const { namespace } = object.metadata;
    if (!ownerKind || !namespace) return [];
    const key = { cluster, namespace, name: reference.name };
    return informers.of(ownerKind).get(key)?.metadata.uid === reference.uid ? [] : [{ kind: ownerKind, key, uid: reference.uid }];
  }

  async function exists({ kind, key, uid }: OwnerKey, signal: AbortSignal): Promise<boolean> {
    if (informers.of(kind).get(key)?.metadata.uid === uid) return true;
    try {
      return (await client.get(kind, key, { signal })).metadata.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
