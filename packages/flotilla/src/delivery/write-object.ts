/** Creates an object on a member, or changes it where it differs from the desired state. */
import { omitZero } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { isAlreadyExists, isForbidden } from "@flotilla/apimachinery";
import type { FieldSet } from "@flotilla/apimachinery";
import { withoutPath } from "./matches-desired.ts";
import type { ApplyOutcome } from "./delivery.ts";
import { withoutSteps } from "./drift.ts";
import type { FieldDrift } from "./drift.ts";
import { checkExact } from "./exact-manifest.ts";
import { findDifferences } from "./find-differences.ts";
import { digestOf, isSameDelivery, RELEASED_FROM } from "./marks.ts";
import { keyIn, readObject } from "./member-access.ts";
import type { Manifest, MemberAccess, Task } from "./member-access.ts";
import { replicasOf, retainFromMember } from "./member-replicas.ts";
import { planTakeover } from "./plan-takeover.ts";
import { planPut } from "./put-object.ts";
import { withReferences } from "./references.ts";
import { withoutRetained } from "./retained.ts";

export async function createObject(access: MemberAccess, task: Task): Promise<ApplyOutcome> {
  const { client, cluster, observer } = access;
  const { kind, manifest, policy, ownership, signal } = task;
  const { fieldManager, force } = policy;
  policy.beforeCreate?.();
  policy.beforeRequest?.();
  await policy.beforeWrite?.();
  const isSeenAbsent = observer.informer(kind).synced;
  try {
    const desired = ownership.withOwners(manifest);
    const written =
      ownership.isShared && policy.mode === "apply"
        ? client.apply(kind, cluster, desired, { force, fieldManager, signal })
        : client.create(kind, cluster, desired, { signal, fieldManager: managerOf(task) });
    return { result: "created", object: await written };
  } catch (error) {
    // An API server checks the create permission before it checks for existence, so a client that may only update
    // this object is rejected.
    if (!isAlreadyExists(error) && (isSeenAbsent || !isForbidden(error))) throw error;
    const observed = await readObject(access, kind, keyIn(access, manifest.metadata), signal);
    if (!observed) throw error; // Deleted again: the caller's retry reads it again.
    return changeObject(access, task, observed);
  }
}

export async function changeObject(access: MemberAccess, task: Task, observed: Manifest): Promise<ApplyOutcome> {
  const { manifest, policy, ownership } = task;
  const { mode } = policy;
  const conflict = ownership.conflictWith(observed, manifest, { cluster: access.cluster, mode });
  if (conflict !== undefined) return { result: "conflict", message: conflict };
  // A terminating object cannot be changed to stay; it is created again after its deletion.
  if (mode === "read-only" || observed.metadata.deletionTimestamp) return { result: "unchanged", object: observed };
  if (mode === "create-only") return keepReferences(access, task, observed);

  const retained = await retainFromMember(access, task, observed);
  const leavesReplicas = replicasOf(retained) !== replicasOf(manifest) || undefined;
  const drift = findDifferences(access, task, retained, observed);
  if (drift === "settled") return { result: "unchanged", object: observed, leavesReplicas };
  const isDelivered = ownership.hasDelivered(observed);
  const isReport = policy.drift === "report" && isDelivered;
  if (isReport && isSameDelivery(retained, observed))
    return { result: "unchanged", object: observed, drift, leavesReplicas };
  policy.beforeRequest?.();
  await policy.beforeWrite?.();
  // A field without an owner is missing because the manifest is new.
  const left = isReport ? drift.filter(({ by }) => by !== undefined) : [];
  const reported = isReport ? left : drift;
  const object =
    mode === "update"
      ? await putObject(access, task, retained, observed)
      : await applyObject(access, task, { retained, observed, left });
  const { generation } = object.metadata;
  access.observer.settled.set(task.kind, keyIn(access, object.metadata), { generation, written: digestOf(retained) });
  return {
    result: "updated",
    object,
    drift: isDelivered && reported.length > 0 ? reported : undefined,
    isAdopted: ownership.takeover(observed).isAdopted || undefined,
    leavesReplicas,
  };
}

/** An object that we may not change: only its owner references are maintained. */
async function keepReferences(access: MemberAccess, task: Task, observed: Manifest): Promise<ApplyOutcome> {
  const { kind, policy, ownership, signal } = task;
  const ownerReferences = ownership.missingReferences(observed);
  if (!ownerReferences) return { result: "unchanged", object: observed };
  policy.beforeRequest?.();
  await policy.beforeWrite?.();
  const { uid = null, resourceVersion = null } = observed.metadata;
  const patch = { metadata: { ownerReferences, uid, resourceVersion } } as unknown as Json;
  const { fieldManager } = policy;
  const object = await access.client.patch(kind, keyIn(access, observed.metadata), patch, {
    type: "merge",
    signal,
    fieldManager,
  });
  return { result: "updated", object };
}

async function putObject(access: MemberAccess, task: Task, retained: Manifest, observed: Manifest): Promise<Manifest> {
  const { kind, ownership, signal } = task;
  const references = ownership.missingReferences(observed);
  const planned = checkExact(planPut(retained, observed));
  task.policy.beforeChange?.(planned, observed);
  return access.client.update(kind, access.cluster, references ? withReferences(planned, references) : planned, {
    signal,
    fieldManager: managerOf(task),
  });
}

interface Change {
  /** The manifest with the values that the member decides. */
  retained: Manifest;
  observed: Manifest;
  /** Fields that other managers changed, and keep. */
  left: readonly FieldDrift[];
}

async function applyObject(access: MemberAccess, task: Task, change: Change): Promise<Manifest> {
  const { kind, manifest, policy, ownership, signal } = task;
  const { observed } = change;
  const { fieldManager, force, ignoreFields = [] } = policy;
  const applied = withoutRetained(
    manifest,
    change.retained,
    observed.metadata.managedFields?.map(({ fieldsV1 }) => fieldsV1 as FieldSet | undefined),
    observed,
  );
  let desired = ignoreFields.reduce(withoutPath, applied.wanted);
  for (const { steps } of change.left) desired = withoutSteps(desired, steps);
  policy.beforeChange?.(checkExact(desired), observed);
  const managedFields = planTakeover({
    manager: fieldManager,
    manifest: desired,
    observed,
    left: [...applied.left, ...ignoreFields.map((path) => path.split("."))],
    ...ownership.takeover(observed),
  });
  const isReleased = observed.metadata.annotations?.[RELEASED_FROM] !== undefined;
  const { resourceVersion } = (
    managedFields || isReleased ? await moveFields(access, task, observed, managedFields) : observed
  ).metadata;
  // Only the inspected object is changed: one that replaced it since then causes a conflict and is inspected again.
  const owned = ownership.withOwners(desired, observed);
  const inspected = { ...owned, metadata: { ...owned.metadata, ...omitZero({ resourceVersion }) } };
  return access.client.apply(kind, access.cluster, inspected, { force, fieldManager, signal });
}

/** Moves field ownership to our manager, and removes the release annotation, which is no longer needed. */
function moveFields(
  access: MemberAccess,
  { kind, signal }: Task,
  { metadata }: Manifest,
  managedFields: object | undefined,
): Promise<Manifest> {
  const { resourceVersion = null } = metadata;
  const patch = { metadata: { managedFields, resourceVersion, annotations: { [RELEASED_FROM]: null } } };
  return access.client.patch(kind, keyIn(access, metadata), patch as unknown as Json, { type: "merge", signal });
}

/** The manager of writes other than apply; unset is the client's own. */
const managerOf = ({ policy, ownership }: Task): string | undefined =>
  ownership.isShared ? policy.fieldManager : undefined;
