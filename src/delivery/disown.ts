/** A holder lets go of an object: it is deleted when nobody else holds it, and otherwise loses one reference. */
import { dynamicKind } from "../api/index.ts";
import type { OwnerReference } from "../api/index.ts";
import { find } from "../client/index.ts";
import type { AnyKind, Client, ObjectKey } from "../client/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import type { Delivery, DisownPolicy, HeldResource } from "./delivery.ts";
import { APPLIED_DIGEST, deliveringWork } from "./marks.ts";
import { isHeldBy, otherHolders } from "./shared.ts";

/** How often a reference is taken off again when the object changes under it. */
const RACE_RETRIES = 3;

export function createDisown({ client, cluster }: { client: Client; cluster: string }): Delivery["disown"] {
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
    // What was let go earlier may still carry our note of it. A namesake, and what is delivered by others, is none of
    // the holder's.
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
    // What was noted is gone; its namesake is none of the holder's, whatever it says.
    if (metadata.uid !== uid) return "gone";
    if (!metadata.deletionTimestamp)
      await client.delete(kind, key, { propagationPolicy: "Background", preconditions: { uid }, signal });
    return "going";
  }

  return async ({ group, version, resource, namespace, name, uid }: HeldResource, policy, signal) => {
    policy.beforeRequest?.();
    // A kind by its plural alone: whoever noted it did not note more.
    const kind: AnyKind = dynamicKind({
      group,
      version,
      kind: resource,
      plural: resource,
      scope: namespace ? "Namespaced" : "Cluster",
    });
    for (let attempt = 0; ; attempt++) {
      try {
        return await disownOnce(kind, { cluster, namespace: namespace || undefined, name }, uid, policy, signal);
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
