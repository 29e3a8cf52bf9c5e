/**
 * Delivery to one member through its client. Reads come from informers where they are fresh. Writes happen only where
 * the member differs from the desired state, so a converged fleet sends no requests.
 *
 * `create` makes the object, and cannot touch one that another client created in the meantime. The first change moves
 * the fields from that write to our apply manager, so that a field dropped from the manifest disappears.
 */
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import type { ApplyOutcome, ApplyPolicy, Delivery } from "./delivery.ts";
import { marks } from "./marks-ownership.ts";
import { keyIn, observeObject, readObject, resolveKind } from "./member-access.ts";
import type { Manifest, MemberAccess, Task } from "./member-access.ts";
import { isFieldConflict } from "./obstacles.ts";
import { createRemoveObject } from "./remove-object.ts";
import { createServedKinds, inServedVersion } from "./served-kinds.ts";
import { subscribe } from "./subscription.ts";
import { changeObject, createObject } from "./write-object.ts";

export type DeliveryDependencies = MemberAccess;

/** Retries after a write conflict, before the caller's backoff takes over. */
const RACE_RETRIES = 3;

export function createDelivery(dependencies: DeliveryDependencies): Delivery {
  const access: MemberAccess = { ...dependencies, kinds: createServedKinds(dependencies.kinds) };
  return {
    apply: (manifest, policy, signal) => applyManifest(access, manifest, policy, signal),
    ...createRemoveObject(access),
    kindOf: (ref, policy) => resolveKind(access, ref, policy),
    observe: (refs) => subscribe(access, refs),
  };
}

async function applyManifest(
  access: MemberAccess,
  manifest: Manifest,
  policy: ApplyPolicy,
  signal: AbortSignal,
): Promise<ApplyOutcome> {
  const kind = await resolveKind(access, manifest, policy);
  const { ownership = marks() } = policy;
  const stamped = ownership.stamp(inServedVersion(manifest, kind), policy.mode);
  const task: Task = { kind, manifest: stamped, policy, ownership, signal };
  for (let attempt = 0; ; attempt++) {
    // After a conflict the informer may lag, so the second attempt reads from the member itself.
    const observed =
      attempt === 0
        ? await observeObject(access, task)
        : await readObject(access, kind, keyIn(access, manifest.metadata), signal);
    try {
      if (observed) return await changeObject(access, task, observed);
      if (policy.mode === "read-only") return { result: "absent" };
      return await createObject(access, task);
    } catch (error) {
      // The kind itself may have been deleted, or be served under another name: the next attempt runs discovery again.
      if (isNotFound(error)) access.kinds.forget(manifest);
      if (!isConflict(error) || isFieldConflict(error) || attempt >= RACE_RETRIES) throw error;
    }
  }
}
