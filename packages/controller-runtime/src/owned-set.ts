/**
 * Brings the objects of one owner to a desired list with the fewest writes: missing objects are created, different ones
 * updated, extra ones deleted, and correct ones left unchanged.
 *
 * A desired object states whole fields (`spec`, `data`): undesired contents of those are removed. In the metadata it
 * states single labels, annotations, finalizers and owners; those of others are kept. Status is never written.
 */
import { formatApiVersion, isAlreadyExists, isConflict, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, ObjectMeta, OwnerReference } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, messageOf, type DeepReadonly, defined } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf } from "./define-controller.ts";

/** Concurrent writes of one owner: enough to share commits, few enough to leave room for others. */
const MAX_PARALLEL = 16;
/** Each conflict means that another writer made progress; more in a row than this are left to the caller's backoff. */
const MAX_ATTEMPTS = 5;
/** An object evicted from this cache costs one write without effect at its owner's next reconcile. */
const MAX_COMPLETED = 10_000;
/** How many failures the message of `OwnedSetError` lists. */
const MAX_NAMED_FAILURES = 3;

export interface OwnedSetOptions<T extends KubernetesObject, O> {
  client: Client;
  kind: Kind<T>;
  /** The logical cluster of the owner's objects. */
  clusterOf(owner: O): string;
  /** The current objects of the owner; usually from an index of the informer. */
  current(owner: O): readonly DeepReadonly<T>[];
  /**
   * Reports whether an existing object of the same name is the owner's although `current` does not contain it. Defaults
   * to comparing the desired labels and owners.
   */
  isOwn?(found: DeepReadonly<T>, desired: DeepReadonly<T>): boolean;
  /** Annotations that only this owner writes: those no longer desired are removed. All others are left unchanged. */
  ownAnnotations?: readonly string[];
}

interface Changes {
  created: number;
  updated: number;
  deleted: number;
}

export interface OwnedSet<T extends KubernetesObject, O> {
  /** Attempts every item before it fails, with `OwnedSetError`. Objects that are being deleted are left alone. */
  replace(owner: O, desired: readonly DeepReadonly<T>[], signal: AbortSignal): Promise<Changes>;
}

/** A write of an owned object that failed. */
export interface FailedWrite {
  key: ObjectKey;
  verb: "create" | "update" | "delete";
  error: Error;
}

/** Some items could not be written; the others were. */
export class OwnedSetError extends FlotillaError {
  readonly failed: readonly FailedWrite[];
  constructor(what: string, failed: readonly FailedWrite[], total: number) {
    const named = failed
      .slice(0, MAX_NAMED_FAILURES)
      .map(({ error }) => messageOf(error))
      .join("; ");
    super(
      "OwnedSet",
      `${failed.length} of ${total} writes of ${what} failed: ${named}${failed.length > MAX_NAMED_FAILURES ? "; …" : ""}`,
      { cause: failed[0]?.error },
    );
    this.failed = failed;
  }
}

interface Task {
  key: ObjectKey;
  verb: FailedWrite["verb"];
  run(): Promise<keyof Changes | undefined>;
}

export function createOwnedSet<T extends KubernetesObject, O>(options: OwnedSetOptions<T, O>): OwnedSet<T, O> {
  const { client, kind, clusterOf, current, isOwn = hasDesiredLabelsAndOwners, ownAnnotations = [] } = options;
  const merged = (object: DeepReadonly<T>, desired: DeepReadonly<T>): DeepReadonly<T> =>
    mergeObject(object, desired, ownAnnotations);
  /**
   * The server's response to a desired object with defaults filled in: an object equal to the response is correct,
   * although it differs from the desired one. Objects that the server stored unchanged are not kept here.
   */
  const completed = new Map<string, { desired: DeepReadonly<T>; answer: DeepReadonly<T> }>();

  const isRight = (id: string, object: DeepReadonly<T>, desired: DeepReadonly<T>): boolean => {
    if (equalJson(merged(object, desired), object)) return true;
    const known = completed.get(id);
    return (
      known !== undefined &&
      equalJson(known.desired, desired) &&
      equalJson(merged(object, { ...known.answer, metadata: desired.metadata }), object)
    );
  };
  const remember = (id: string, desired: DeepReadonly<T>, answer: DeepReadonly<T>): void => {
    completed.delete(id);
    if (equalJson(merged(answer, desired), answer)) return;
    completed.set(id, { desired, answer });
    for (const oldest of completed.keys()) {
      if (completed.size <= MAX_COMPLETED) break;
      completed.delete(oldest);
    }
  };

  const create = async (
    key: ObjectKey,
    desired: DeepReadonly<T>,
    signal: AbortSignal,
  ): Promise<keyof Changes | undefined> => {
    try {
      remember(idOfKey(key), desired, await client.create(kind, key.cluster, desired, { signal }));
      return "created";
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(kind, key, { signal });
      // Ours, and only not seen yet; any other object was created by another owner and is not changed.
      if (!isOwn(found, desired)) throw error;
      return update(key, found, desired, signal);
    }
  };
  const update = async (
    key: ObjectKey,
    seen: DeepReadonly<T>,
    desired: DeepReadonly<T>,
    signal: AbortSignal,
  ): Promise<keyof Changes | undefined> => {
    const id = idOfKey(key);
    let object = seen;
    for (let attempt = 1; ; attempt++) {
      if (object.metadata.deletionTimestamp !== undefined || isRight(id, object, desired)) return undefined;
      try {
        remember(id, desired, await client.update(kind, key.cluster, merged(object, desired), { signal }));
        return "updated";
      } catch (error) {
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
      }
      object = await client.get(kind, key, { signal });
    }
  };
  const remove = async (
    key: ObjectKey,
    object: DeepReadonly<T>,
    signal: AbortSignal,
  ): Promise<keyof Changes | undefined> => {
    completed.delete(idOfKey(key));
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    try {
      await client.delete(kind, key, {
        preconditions: object.metadata.uid ? { uid: object.metadata.uid } : undefined,
        signal,
      });
      return "deleted";
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  return {
    async replace(owner, desired, signal) {
      const cluster = clusterOf(owner);
      const leftOver = new Map(current(owner).map((object) => [idOfKey(keyOf(cluster, object)), object]));
      const tasks: Task[] = [];
      for (const wanted of desired) {
        const key = keyOf(cluster, wanted);
        const id = idOfKey(key);
        const object = leftOver.get(id);
        leftOver.delete(id);
        if (!object) tasks.push({ key, verb: "create", run: () => create(key, wanted, signal) });
        else if (object.metadata.deletionTimestamp === undefined && !isRight(id, object, wanted))
          tasks.push({ key, verb: "update", run: () => update(key, object, wanted, signal) });
      }
      for (const object of leftOver.values()) {
        const key = keyOf(cluster, object);
        tasks.push({ key, verb: "delete", run: () => remove(key, object, signal) });
      }
      return runAll(`${kind.plural}.${formatApiVersion(kind.group, kind.storageVersion)}`, tasks, signal);
    },
  };
}

/** Runs every task, a few at a time, and counts the results. */
async function runAll(what: string, tasks: readonly Task[], signal: AbortSignal): Promise<Changes> {
  const changes: Changes = { created: 0, updated: 0, deleted: 0 };
  const failed: FailedWrite[] = [];
  const waiting = tasks.values();
  const work = async (): Promise<void> => {
    for (const { key, verb, run } of waiting) {
      signal.throwIfAborted();
      try {
        const change = await run();
        if (change) changes[change]++;
      } catch (error) {
        failed.push({ key, verb, error: error as Error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, tasks.length) }, work));
  if (failed.length) throw new OwnedSetError(what, failed, tasks.length);
  return changes;
}

/** The object with all desired fields. */
function mergeObject<T extends KubernetesObject>(
  object: DeepReadonly<T>,
  desired: DeepReadonly<T>,
  ownAnnotations: readonly string[],
): DeepReadonly<T> {
  const { status: _ignored, ...fields } = desired as DeepReadonly<T> & { status?: unknown };
  return { ...object, ...fields, metadata: mergedMeta(object.metadata, desired.metadata, ownAnnotations) };
}

function mergedMeta(
  meta: DeepReadonly<ObjectMeta>,
  desired: DeepReadonly<ObjectMeta>,
  ownAnnotations: readonly string[],
): DeepReadonly<ObjectMeta> {
  const { labels, annotations, finalizers, ownerReferences } = desired;
  return {
    ...meta,
    ...defined({
      labels: labels ? { ...meta.labels, ...labels } : undefined,
      annotations: annotations ? { ...without(meta.annotations ?? {}, ownAnnotations), ...annotations } : undefined,
      finalizers: finalizers ? [...new Set([...(meta.finalizers ?? []), ...finalizers])] : undefined,
      ownerReferences: ownerReferences ? mergedOwners(meta.ownerReferences ?? [], ownerReferences) : undefined,
    }),
  };
}

function without(
  entries: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  if (!names.some((name) => name in entries)) return entries;
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)));
}

function mergedOwners(
  owners: readonly DeepReadonly<OwnerReference>[],
  desired: readonly DeepReadonly<OwnerReference>[],
): DeepReadonly<OwnerReference>[] {
  const byUid = new Map(owners.map((owner) => [owner.uid, owner]));
  for (const owner of desired) byUid.set(owner.uid, owner);
  return [...byUid.values()];
}

/** The labels and owners of an object identify its owner. */
function hasDesiredLabelsAndOwners(
  object: DeepReadonly<KubernetesObject>,
  desired: DeepReadonly<KubernetesObject>,
): boolean {
  const { labels = {}, ownerReferences = [] } = desired.metadata;
  const hasMarks = Object.keys(labels).length > 0 || ownerReferences.length > 0;
  return (
    hasMarks &&
    Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value) &&
    ownerReferences.every(({ uid }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid))
  );
}
