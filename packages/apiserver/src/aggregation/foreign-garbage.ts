/**
 * Garbage collection of the objects that aggregated servers store: they are deleted after their owners, which are stored here or
 * by such a server, and `--cascade=foreground` and `orphan` of them are carried out. Lists take the place of watches: each
 * pass reads the metadata of their objects, so nothing is kept between two passes.
 *
 * Reads:  metadata of objects, from aggregated servers; owners, from the store.
 * Writes: deletions, owner references and finalizers, at aggregated servers; owner references of stored dependents.
 */
import type { OwnerReference } from "@flotilla/apimachinery";
import { FlotillaError, messageOf, sleep } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { GarbageCollector } from "../background/garbage-collection.ts";
import type { Orphaned } from "../background/orphaned-owners.ts";
import type { OwnerState } from "../background/owner-state.ts";
import { refersTo } from "../background/ownership.ts";
import type { ForeignOwner } from "../background/ownership.ts";
import type { Cache } from "../store/cache.ts";
import { concurrently } from "../write/concurrently.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import { createForeignChanges, describe } from "./foreign-changes.ts";
import type { ForeignChanges } from "./foreign-changes.ts";
import { collectedKinds, readForeignObjects } from "./foreign-objects.ts";
import type { CollectedKinds, ForeignObjects } from "./foreign-objects.ts";
import type { ForeignObject } from "./foreign-object.ts";
import { foreignOwner, isOwnerGone, kindId, ownerId, ownerKinds } from "./foreign-owners.ts";
import { blocks, planDependent, waitsFor } from "./plan-foreign.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

/** Each deletion may concern the next level of dependents. */
const MAX_ROUNDS = 10;
const BETWEEN_ROUNDS_MS = 1_000;

export interface ForeignGarbage {
  /** Collects what can be collected now. */
  collect(cluster: string): Promise<void>;
  /**
   * Removes stored owners from the objects of aggregated servers before they are deleted without them; undefined for a cluster
   * whose servers have all said that they have no such kinds. An owner keeps waiting while a server does not answer: its objects
   * would be deleted later.
   */
  orphaning(cluster: string): ((uids: ReadonlySet<string>) => Promise<Orphaned>) | undefined;
}

export interface ForeignGarbageDependencies {
  collector(): Pick<GarbageCollector, "ownerStateOf" | "hasDependents" | "orphanDependentsOf" | "ownerWaits">;
  remotes(cluster: string): readonly RemoteService[];
  cache: Pick<Cache, "fresh">;
  /** Whether the cluster has a controller manager of its own. */
  isManagedElsewhere(cluster: string): boolean;
  clock: Clock;
  signal: AbortSignal;
}

export function createForeignGarbage({
  collector: collectorOf,
  remotes,
  cache,
  isManagedElsewhere,
  clock,
  signal,
}: ForeignGarbageDependencies): ForeignGarbage {
  const context = { clock, signal };

  /** What is known of owners in one pass: each one that another server stores is asked for once. */
  function ownersOf(cluster: string, all: ForeignObjects): (object: ForeignObject) => Promise<OwnerState[]> {
    const versions = new Set(remotes(cluster).map(({ group, version }) => `${group}/${version}`));
    const available = ownerKinds(remotes(cluster).filter(isAvailable));
    const asked = new Map<string, Promise<boolean>>();
    const isGone = (reference: OwnerReference, namespace: string | undefined): Promise<boolean> => {
      const kind = available.get(kindId(reference));
      const owner = foreignOwner(kind, reference, namespace);
      if (!kind || !owner) return Promise.resolve(false);
      const id = ownerId(kind, owner);
      let answer = asked.get(id);
      if (!answer) asked.set(id, (answer = isOwnerGone(kind, owner, context)));
      return answer;
    };
    return ({ of: { isNamespaced }, namespace, owners }) =>
      Promise.all(
        owners.map(async (reference): Promise<OwnerState> => {
          const listed = all.find(reference.uid);
          if (listed && refersTo(reference, namespace, asOwner(listed)))
            return waitsFor(listed) === "dependents" ? "waiting" : "solid";
          if (!versions.has(reference.apiVersion))
            return collectorOf().ownerStateOf(cluster, { isNamespaced, namespace }, reference);
          return (await isGone(reference, namespace)) ? "absent" : "solid";
        }),
      );
  }

  /** Whether it was changed or deleted. */
  async function settleDependent(
    object: ForeignObject,
    states: readonly OwnerState[],
    { all, changes }: Pass,
  ): Promise<boolean> {
    const dependents = all.dependentsOf(object.uid);
    const action = planDependent(object, states, {
      exist: dependents.length > 0 || collectorOf().hasDependents(object.uid),
      someWait: dependents.some((other) => waitsFor(other) === "dependents"),
    });
    if (!action) return false;
    if (action.type === "setOwners") return changes.setOwners(object, action.owners);
    return changes.remove(object, action.propagation);
  }

  /** Does what the finalizer of a deleted object requires; whether anything changed. */
  async function settleWaiting(cluster: string, owner: ForeignObject, { all, changes }: Pass): Promise<boolean> {
    const dependents = all.dependentsOf(owner.uid);
    // An object that was not listed may be a dependent, too.
    const isComplete = all.problems.length === 0;
    if (waitsFor(owner) === "orphaning") {
      await collectorOf().orphanDependentsOf(cluster, owner.uid);
      for (const dependent of dependents) if (!(await changes.release(dependent, owner.uid))) return false;
      return isComplete && changes.removeFinalizer(owner, ORPHAN_FINALIZER);
    }
    const isBlocked = await collectorOf().ownerWaits(cluster, asOwner(owner));
    if (isBlocked || !isComplete || dependents.some((dependent) => blocks(dependent, asOwner(owner)))) return false;
    return changes.removeFinalizer(owner, FOREGROUND_FINALIZER);
  }

  /** What could not be done does not keep the rest from being done. */
  async function pass(cluster: string, collected: CollectedKinds): Promise<{ isOver: boolean; failures: unknown[] }> {
    const all = await readForeignObjects(collected, context);
    const waiting = all.objects.filter((object) => waitsFor(object) !== undefined);
    const uids = new Set(waiting.map(({ uid }) => uid));
    const dependents = all.isTruncated && uids.size > 0 ? await readForeignObjects(collected, context, uids) : all;
    // Owners that another API server stored before these objects were listed.
    await cache.fresh(signal);
    const changes = createForeignChanges(context);
    const statesOf = ownersOf(cluster, all);
    const failures: unknown[] = [];
    const attempt = async (work: () => Promise<boolean>): Promise<boolean> => {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
        return false;
      }
    };
    const results = await concurrently(all.objects, signal, (object) =>
      attempt(async () => settleDependent(object, await statesOf(object), { all, changes })),
    );
    for (const owner of waiting)
      results.push(await attempt(() => settleWaiting(cluster, owner, { all: dependents, changes })));
    const [problem] = dependents.problems;
    if (waiting.length > 0 && problem !== undefined)
      failures.push(
        new FlotillaError("AggregatedServer", `${waiting.length} deletions wait for a whole list: ${problem}`),
      );
    return { isOver: !results.includes(true), failures };
  }

  const kindsOf = (cluster: string): CollectedKinds =>
    isManagedElsewhere(cluster) ? { kinds: [], unknown: [] } : collectedKinds(remotes(cluster));

  /** The owners whose dependents all lost them, and why others have some. */
  async function orphan(cluster: string, uids: ReadonlySet<string>): Promise<Orphaned> {
    const all = await readForeignObjects(kindsOf(cluster), context, uids);
    const changes = createForeignChanges(context);
    // What was found is released in any case, so that the next time fewer are left.
    const problems = [...all.problems];
    const kept = new Set<string>();
    await concurrently(all.objects, signal, async (object) => {
      const owners = object.owners.filter(({ uid }) => !uids.has(uid));
      let problem: string | undefined;
      try {
        if (await changes.setOwners(object, owners)) return;
        problem = `${describe(object)} was changed by another client`;
      } catch (error) {
        signal.throwIfAborted();
        problem = messageOf(error);
      }
      problems.push(problem);
      for (const { uid } of object.owners) kept.add(uid);
    });
    const isComplete = all.problems.length === 0;
    return { uids: new Set([...uids].filter((uid) => isComplete && !kept.has(uid))), problems };
  }

  return {
    async collect(cluster) {
      let failures: unknown[] = [];
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const collected = kindsOf(cluster);
        if (collected.kinds.length === 0) return;
        const done = await pass(cluster, collected);
        ({ failures } = done);
        if (done.isOver) break;
        await sleep(clock, BETWEEN_ROUNDS_MS, signal);
      }
      const [first] = failures;
      if (failures.length > 0)
        throw new FlotillaError("AggregatedServer", `${failures.length} problems; the first: ${messageOf(first)}`, {
          cause: first,
        });
    },
    orphaning(cluster) {
      const { kinds, unknown } = kindsOf(cluster);
      return kinds.length + unknown.length === 0 ? undefined : (uids) => orphan(cluster, uids);
    },
  };
}

interface Pass {
  readonly all: ForeignObjects;
  readonly changes: ForeignChanges;
}

const asOwner = ({ of: { remote, kind }, namespace, name, uid }: ForeignObject): ForeignOwner => ({
  group: remote.group,
  kind,
  namespace,
  name,
  uid,
});
