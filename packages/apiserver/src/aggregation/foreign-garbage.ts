/**
 * Garbage collection of the objects that aggregated servers store: they are deleted after their owners, which are stored here or
 * by such a server, and `--cascade=foreground` and `orphan` of them are carried out. Lists take the place of watches: each
 * pass reads the metadata of their objects, so nothing is kept between two passes.
 *
 * Reads:  metadata of objects, from aggregated servers; owners, from the store.
 * Writes: deletions, owner references and finalizers, at aggregated servers; owner references of stored dependents.
 */
import { gvkOf } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import type { GarbageCollector } from "../background/garbage-collection.ts";
import type { OwnerState } from "../background/owner-state.ts";
import { concurrently } from "../write/concurrently.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import { collectedKinds, pathOf, readForeignObjects } from "./foreign-objects.ts";
import type { ForeignKind, ForeignObject, ForeignObjects } from "./foreign-objects.ts";
import { isOwnerGone, ownerKinds } from "./foreign-owners.ts";
import { blocks, planDependent, waitsFor } from "./plan-foreign.ts";
import { ask } from "./remote-calls.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

/** Each deletion may concern the next level of dependents. */
const MAX_ROUNDS = 10;
const BETWEEN_ROUNDS_MS = 1_000;

export interface ForeignGarbage {
  /** Collects what can be collected now. */
  collect(cluster: string): Promise<void>;
  /**
   * Removes a stored owner from the objects of aggregated servers before it is deleted without them; undefined for a cluster
   * without such objects. Rejects when a server does not answer: its objects would be deleted later.
   */
  orphaning(cluster: string): ((uid: string) => Promise<void>) | undefined;
}

export interface ForeignGarbageDependencies {
  collector(): Pick<GarbageCollector, "ownerStateOf" | "hasDependents" | "orphanDependentsOf" | "ownerWaits">;
  remotes(cluster: string): readonly RemoteService[];
  /** Whether the cluster has a controller manager of its own. */
  isManagedElsewhere(cluster: string): boolean;
  clock: Clock;
  signal: AbortSignal;
}

export function createForeignGarbage({
  collector: collectorOf,
  remotes,
  isManagedElsewhere,
  clock,
  signal,
}: ForeignGarbageDependencies): ForeignGarbage {
  const context = { clock, signal };

  /** What is known of owners in one pass: each one that another server stores is asked for once. */
  function ownersOf(cluster: string, all: ForeignObjects): (object: ForeignObject) => Promise<OwnerState[]> {
    const groups = new Set(remotes(cluster).map(({ group }) => group));
    const available = ownerKinds(remotes(cluster).filter(isAvailable));
    const asked = new Map<string, Promise<boolean>>();
    const isGone = (owner: OwnerReference, namespace: string | undefined): Promise<boolean> => {
      const known = asked.get(owner.uid);
      if (known) return known;
      const kind = available.get(`${gvkOf(owner).group}/${owner.kind}`);
      const answer = kind ? isOwnerGone(kind, { owner, namespace }, context) : Promise.resolve(false);
      asked.set(owner.uid, answer);
      return answer;
    };
    return ({ of: { isNamespaced }, namespace, owners }) =>
      Promise.all(
        owners.map(async (owner): Promise<OwnerState> => {
          if (!groups.has(gvkOf(owner).group))
            return collectorOf().ownerStateOf(cluster, { isNamespaced, namespace }, owner);
          const listed = all.find(owner.uid);
          if (listed) return waitsFor(listed) === "dependents" ? "waiting" : "solid";
          return (await isGone(owner, namespace)) ? "absent" : "solid";
        }),
      );
  }

  /** Whether it was changed or deleted. */
  async function settleDependent(
    object: ForeignObject,
    states: readonly OwnerState[],
    all: ForeignObjects,
  ): Promise<boolean> {
    const dependents = all.dependentsOf(object.uid);
    const action = planDependent(object, states, {
      exist: dependents.length > 0 || collectorOf().hasDependents(object.uid),
      someWait: dependents.some((other) => waitsFor(other) === "dependents"),
    });
    if (!action) return false;
    if (action.type === "setOwners") return change(object, { ownerReferences: action.owners });
    return remove(object, action.propagation);
  }

  /** Does what the finalizer of a deleted object requires; whether anything changed. */
  async function settleWaiting(cluster: string, owner: ForeignObject, all: ForeignObjects): Promise<boolean> {
    const dependents = all.dependentsOf(owner.uid);
    const without = (finalizer: string): Promise<boolean> =>
      change(owner, { finalizers: owner.finalizers.filter((other) => other !== finalizer) });
    if (waitsFor(owner) === "orphaning") {
      await collectorOf().orphanDependentsOf(cluster, owner.uid);
      for (const dependent of dependents) if (!(await release(dependent, owner.uid))) return false;
      // An object that was not listed would be deleted after its owner.
      return all.isComplete && without(ORPHAN_FINALIZER);
    }
    const isBlocked = await collectorOf().ownerWaits(cluster, owner.uid);
    if (isBlocked || !all.isComplete || dependents.some((dependent) => blocks(dependent, owner.uid))) return false;
    return without(FOREGROUND_FINALIZER);
  }

  const release = (object: ForeignObject, uid: string): Promise<boolean> =>
    change(object, { ownerReferences: object.owners.filter((owner) => owner.uid !== uid) });

  /** False when another client changed the object since: the next pass reads it again. */
  async function change(
    object: ForeignObject,
    metadata: { ownerReferences?: readonly OwnerReference[]; finalizers?: readonly string[] },
  ): Promise<boolean> {
    const { uid, resourceVersion } = object;
    const body = JSON.stringify({ metadata: { uid, resourceVersion, ...metadata } });
    const type = "application/merge-patch+json";
    const { status } = await ask(object.of.remote, pathOf(object.of, object), context, {
      method: "PATCH",
      body: { type, text: body },
    });
    return succeeded(status, object, "changed");
  }

  async function remove(object: ForeignObject, propagationPolicy: string): Promise<boolean> {
    const { uid, resourceVersion } = object;
    const options: Json = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid, resourceVersion },
      propagationPolicy,
    };
    const { status } = await ask(object.of.remote, pathOf(object.of, object), context, {
      method: "DELETE",
      body: { type: "application/json", text: JSON.stringify(options) },
    });
    return succeeded(status, object, "deleted");
  }

  async function pass(cluster: string, kinds: readonly ForeignKind[]): Promise<boolean> {
    const all = await readForeignObjects(kinds, context);
    const waiting = all.objects.filter((object) => waitsFor(object) !== undefined);
    const statesOf = ownersOf(cluster, all);
    const results = await concurrently(all.objects, signal, async (object) =>
      settleDependent(object, await statesOf(object), all),
    );
    for (const owner of waiting) results.push(await settleWaiting(cluster, owner, all));
    return results.includes(true);
  }

  const kindsOf = (cluster: string): ForeignKind[] =>
    isManagedElsewhere(cluster) ? [] : collectedKinds(remotes(cluster));

  return {
    async collect(cluster) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const kinds = kindsOf(cluster);
        if (kinds.length === 0 || !(await pass(cluster, kinds))) return;
        await sleep(clock, BETWEEN_ROUNDS_MS, signal);
      }
    },
    orphaning(cluster) {
      const kinds = kindsOf(cluster);
      if (kinds.length === 0) return undefined;
      return async (uid) => {
        const all = await readForeignObjects(kinds, context);
        const released = await concurrently(all.dependentsOf(uid), signal, (object) => release(object, uid));
        if (all.isComplete && !released.includes(false)) return;
        throw new FlotillaError(
          "AggregatedServer",
          "the dependents of an object that is to be orphaned could not all be read or changed at aggregated servers",
        );
      };
    },
  };
}

/** False for an object that is gone or was changed. */
function succeeded(status: number, { of: { remote, resource }, name }: ForeignObject, what: string): boolean {
  if (status === 404 || status === 409) return false;
  if (status >= 200 && status <= 299) return true;
  throw new FlotillaError(
    "AggregatedServer",
    `${resource}.${remote.group} ${name} could not be ${what} at the server of ${remote.name}: status ${status}`,
  );
}
