/**
 * Releases an object from one holder: deletes it if there is no other holder, otherwise removes one owner reference.
 */
import { dynamicKind } from "../api/index.ts";
import type { OwnerReference } from "../api/index.ts";
import { find } from "../client/index.ts";
import type { AnyKind, Client, ObjectKey } from "../client/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import type { Delivery, DisownPolicy, HeldResource } from "./delivery.ts";
import { APPLIED_DIGEST, deliveringWork } from "./marks.ts";
import type { SettledObjects } from "./settled-objects.ts";
import { isHeldBy, otherHolders } from "./shared.ts";

/** How often removing a reference is retried when the object changes concurrently. */
const RACE_RETRIES = 3;

export function createDisown({
  client,
  cluster,
  settled,
}: {
  client: Client;
  cluster: string;
  settled: SettledObjects;
}): Delivery["disown"] {
  async function disownOnce(
    kind: AnyKind,
    key: ObjectKey,
    uid: string,
    { reference, mode }: DisownPolicy,
    signal: AbortSignal,
  ): Promise<"gone" | "going"> {
    const observed = await find(client, kind, key, { signal });
    if (!observed) return "gone";
    const isHeld = isHeldBy(observed, reference);
    const others = otherHolders(observed, reference);
    const { metadata } = observed;
    // An object released earlier may still carry our annotation. An object with the same name but another uid, or
    // delivered by others, does not belong to the holder.
    const isNoted =
      mode === "release" &&
      others.length === 0 &&
      metadata.annotations?.[APPLIED_DIGEST] !== undefined &&
      metadata.uid === uid &&
      deliveringWork(observed) === undefined;
    if (!isHeld && !isNoted) return "gone";
    if (mode === "release" || others.length > 0) {
      await client.patch(kind, key, withoutReference(metadata, reference, isNoted), { type: "merge", signal });
      return "gone";
    }
    // The recorded object was deleted; a new one with the same name does not belong to the holder, regardless of its
    // annotations.
    if (metadata.uid !== uid) return "gone";
    if (!metadata.deletionTimestamp)
      await client.delete(kind, key, { propagationPolicy: "Background", preconditions: { uid }, signal });
    return "going";
  }

  return async ({ group, version, resource, namespace, name, uid }: HeldResource, policy, signal) => {
    policy.beforeRequest?.();
    // A kind by its plural alone: the status records no more.
    const kind: AnyKind = dynamicKind({
      group,
      version,
      kind: resource,
      plural: resource,
      scope: namespace ? "Namespaced" : "Cluster",
    });
    const key = { cluster, namespace: namespace || undefined, name };
    settled.forget(kind, key);
    for (let attempt = 0; ; attempt++) {
      try {
        return await disownOnce(kind, key, uid, policy, signal);
      } catch (error) {
        if (isNotFound(error)) return "gone";
        if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;
      }
    }
  };
}

function withoutReference(
  {
    ownerReferences = [],
    resourceVersion,
    uid,
  }: DeepReadonly<{ ownerReferences?: OwnerReference[]; resourceVersion?: string; uid?: string }>,
  { uid: holder }: OwnerReference,
  isNoted: boolean,
): Json {
  const left = ownerReferences.filter((owner) => owner.uid !== holder);
  return {
    metadata: {
      ownerReferences: (left.length > 0 ? left : null) as unknown as Json,
      ...(isNoted && { annotations: { [APPLIED_DIGEST]: null } }),
      uid: uid ?? null,
      resourceVersion: resourceVersion ?? null,
    },
  };
}
