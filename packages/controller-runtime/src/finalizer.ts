/** Adds and removes a controller's finalizer, without changing those of others. */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find, type Client, type ObjectKey } from "@flotilla/client";
import { isConflict, isNotFound } from "@flotilla/apimachinery";

/** Each conflict means that another writer made progress; more in a row than this are left to the queue's backoff. */
const MAX_ATTEMPTS = 5;

export function hasFinalizer(object: DeepReadonly<KubernetesObject>, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds or removes the finalizer according to `wanted`, starting from `object`, which may be stale. Does nothing when
 * the object is deleted, was replaced by another of the same name, or is being deleted and `wanted` is true, which a
 * server rejects.
 */
export async function setFinalizer<T extends KubernetesObject>(
  client: Client,
  { kind, key, object }: { kind: Kind<T>; key: ObjectKey; object: DeepReadonly<T> },
  { finalizer, wanted }: { finalizer: string; wanted: boolean },
  signal: AbortSignal,
): Promise<void> {
  let newest = object;
  for (let attempt = 1; ; attempt++) {
    const { finalizers = [], resourceVersion, deletionTimestamp } = newest.metadata;
    if (hasFinalizer(newest, finalizer) === wanted || (wanted && deletionTimestamp)) return;
    const left = wanted ? [...finalizers, finalizer] : finalizers.filter((other) => other !== finalizer);
    try {
      // The resourceVersion makes it a compare-and-set: a list in a merge patch would replace concurrent additions.
      await client.patch(
        kind,
        key,
        { metadata: { resourceVersion: resourceVersion ?? null, finalizers: left.length ? left : null } },
        { type: "merge", signal },
      );
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
    }
    const read = await find(client, kind, key, { signal });
    if (!read || read.metadata.uid !== object.metadata.uid) return;
    newest = read;
  }
}
