/** Removes an object from a member, or gives it up, as its ownership decides. */
import { dynamicKind, isConflict, isNotFound } from "@flotilla/apimachinery";
import { UnknownKindError } from "@flotilla/client";
import type { AnyKind, ObjectKey } from "@flotilla/client";
import type { Delivery, HeldResource, ObjectRef, Removed, RemovePolicy } from "./delivery.ts";
import { createHoldings } from "./container-contents.ts";
import { marks } from "./marks-ownership.ts";
import { keyIn, readObject, resolveKind } from "./member-access.ts";
import type { Manifest, MemberAccess } from "./member-access.ts";
import type { Ownership, RemovalPlan, RemovalRequest } from "./ownership.ts";
import { references } from "./references-ownership.ts";

/** Retries after a write conflict, before the caller's backoff takes over. */
const RACE_RETRIES = 3;

interface Removal extends RemovalRequest, Pick<RemovePolicy, "propagationPolicy" | "whenHolding"> {
  kind: AnyKind;
  key: ObjectKey;
  ownership: Ownership;
}

export function createRemoveObject(access: MemberAccess): Pick<Delivery, "remove" | "disown"> {
  const holdings = createHoldings(access);

  /** A container that still has objects is deleted only if its owner says so. */
  async function planRemoval(removal: Removal, observed: Manifest, signal: AbortSignal): Promise<RemovalPlan> {
    const plan = removal.ownership.planRemoval(observed, removal);
    if (plan !== "delete" || !removal.whenHolding || observed.metadata.deletionTimestamp) return plan;
    const held = await holdings.of(observed, signal);
    if (held === undefined) return plan;
    return removal.whenHolding(held) === "leave"
      ? "leave"
      : removal.ownership.planRemoval(observed, { mode: "release", mayReturn: true });
  }

  async function removeOnce(removal: Removal, signal: AbortSignal): Promise<Removed> {
    const { kind, key, propagationPolicy = "Background" } = removal;
    const observed = await readObject(access, kind, key, signal);
    if (!observed) return "gone";
    const plan = await planRemoval(removal, observed, signal);
    if (plan === "leave") return "gone";
    if (plan !== "delete") {
      await access.client.patch(kind, key, plan.patch, { type: "merge", signal });
      return "gone";
    }
    const { uid, deletionTimestamp } = observed.metadata;
    if (deletionTimestamp) return "going";
    return access.client.delete(kind, key, { propagationPolicy, preconditions: uid ? { uid } : undefined, signal });
  }

  async function remove(removal: Removal, signal: AbortSignal): Promise<Removed> {
    access.observer.settled.forget(removal.kind, removal.key);
    for (let attempt = 0; ; attempt++) {
      try {
        return await removeOnce(removal, signal);
      } catch (error) {
        if (isNotFound(error)) return "gone";
        if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;
      }
    }
  }

  /** Undefined when the member was queried and does not serve the kind. */
  async function servedKind(ref: ObjectRef, policy: RemovePolicy): Promise<AnyKind | undefined> {
    try {
      return await resolveKind(access, ref, policy);
    } catch (error) {
      if (error instanceof UnknownKindError) return undefined;
      throw error;
    }
  }

  return {
    async remove(ref, policy, signal) {
      policy.beforeRequest?.();
      const kind = await servedKind(ref, policy);
      if (!kind) return "gone"; // Without its kind the object cannot exist.
      const { ownership = marks(), mode, mayReturn, propagationPolicy, whenHolding } = policy;
      const key = keyIn(access, ref);
      return remove({ kind, key, ownership, mode, mayReturn, propagationPolicy, whenHolding }, signal);
    },
    disown(resource, { reference, mode, beforeRequest }, signal) {
      beforeRequest?.();
      const ownership = references({ reference, isHeld: true, isDelivered: true });
      const key = keyIn(access, resource);
      return remove({ kind: kindOf(resource), key, ownership, mode, uid: resource.uid }, signal);
    },
  };
}

/** A kind by its plural alone: the status records no more. */
function kindOf({ group, version, resource, namespace }: HeldResource): AnyKind {
  const scope = namespace ? "Namespaced" : "Cluster";
  return dynamicKind({ group, version, kind: resource, plural: resource, scope });
}
