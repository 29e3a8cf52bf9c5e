/**
 * Delivery to one member through its client. Reads come from informers where they are fresh. Writes happen only where
 * the member differs from the desired state, so a converged fleet sends no requests.
 *
 * Ownership: `create` makes the object, and cannot touch one that another client created in the meantime. The first
 * change moves the fields from that write to our apply manager, so that a field dropped from the manifest disappears.
 */
import { HorizontalPodAutoscaler } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import { equalJson, isObject } from "../base/index.ts";
import type { Clock, DeepReadonly, Json } from "../base/index.ts";
import { find, UnknownKindError } from "../client/index.ts";
import type { AnyKind, Client, KindResolver, ObjectKey } from "../client/index.ts";
import { ApiError, isAlreadyExists, isConflict, isNotFound } from "../machinery/index.ts";
import type { FieldSet } from "../machinery/index.ts";
import { holdsIn, withoutPath } from "./compare.ts";
import type { ApplyOutcome, ApplyPolicy, Delivery, ObjectRef, RemovePolicy } from "./delivery.ts";
import { createDisown } from "./disown.ts";
import { findDrift, withoutSteps } from "./drift.ts";
import type { FieldDrift } from "./drift.ts";
import {
  digestOf,
  FIELD_MANAGER,
  isOfAnother,
  isOurs,
  isReleasedFrom,
  isSameDelivery,
  mark,
  RELEASED_FROM,
  releasePatch,
} from "./marks.ts";
import { createHoldings } from "./holdings.ts";
import { groupKind } from "./observer.ts";
import type { Observer } from "./observer.ts";
import { isFieldConflict } from "./obstacles.ts";
import { planTakeover, STOCK_AGENTS } from "./plan-takeover.ts";
import { planPut } from "./put.ts";
import { withoutRetained } from "./retained.ts";
import { holderText, holdersOf, otherHolders, plannedReferences, refusalOf, withNote } from "./shared.ts";
import { createServedKinds, inServedVersion } from "./served-kinds.ts";
import { subscribe } from "./subscription.ts";
import { untilListed } from "./until-listed.ts";

type Manifest = DeepReadonly<KubernetesObject>;

export interface DeliveryDependencies {
  client: Client;
  cluster: string;
  kinds: KindResolver;
  observer: Observer;
  clock: Clock;
}

/** Retries after a write conflict, before the caller's backoff takes over. */
const RACE_RETRIES = 3;

/** One delivery: the kind as the member serves it, and the manifest in that version with our marks. */
interface Task {
  kind: AnyKind;
  manifest: Manifest;
  policy: ApplyPolicy;
  signal: AbortSignal;
}

export function createDelivery({ client, cluster, kinds: asked, observer, clock }: DeliveryDependencies): Delivery {
  const kinds = createServedKinds(asked);
  const holdings = createHoldings({ client, cluster });
  const { settled } = observer;

  const keyOf = ({ namespace, name }: { namespace?: string | undefined; name: string }): ObjectKey => ({
    cluster,
    namespace: namespace || undefined,
    name,
  });

  async function observe({ kind, manifest, policy, signal }: Task): Promise<Manifest | undefined> {
    const informer = observer.informer(kind);
    const key = keyOf(manifest.metadata);
    if (informer.synced || (policy.isFirst && policy.mode !== "read-only")) return informer.get(key);
    policy.beforeRequest?.();
    // After a hub restart a member may have thousands of our objects: one list reads them all.
    await untilListed(informer, clock, signal);
    return informer.synced ? informer.get(key) : read(kind, key, signal);
  }

  const read = (kind: AnyKind, key: ObjectKey, signal: AbortSignal): Promise<Manifest | undefined> =>
    find(client, kind, key, { signal });

  async function resolve(
    ref: { apiVersion: string; kind: string },
    { beforeRequest }: Pick<ApplyPolicy, "beforeRequest">,
  ): Promise<AnyKind> {
    const known = kinds.known(ref);
    if (known) return known;
    beforeRequest?.();
    return kinds.resolve(ref);
  }

  /** Undefined when the member was queried and does not serve the kind. */
  async function servedKind(ref: ObjectRef, policy: RemovePolicy): Promise<AnyKind | undefined> {
    try {
      return await resolve(ref, policy);
    } catch (error) {
      if (error instanceof UnknownKindError) return undefined;
      throw error;
    }
  }

  async function create(task: Task): Promise<ApplyOutcome> {
    const { kind, manifest, policy, signal } = task;
    const { shared, fieldManager, force } = policy;
    policy.beforeRequest?.();
    await policy.beforeWrite?.();
    const isSeenAbsent = observer.informer(kind).synced;
    try {
      const wanted = shared?.isHeld
        ? withOwners(manifest, [...(manifest.metadata.ownerReferences ?? []), shared.reference])
        : manifest;
      // A shared delivery may also take over an existing object, so it need not require its absence.
      const written =
        shared && policy.mode === "apply"
          ? client.apply(kind, cluster, wanted, { force, fieldManager, signal })
          : client.create(kind, cluster, wanted, { signal, fieldManager: shared ? fieldManager : undefined });
      return { result: "created", object: await written };
    } catch (error) {
      // An API server checks the create permission before it checks for existence, so a client that may only update
      // this object is rejected.
      if (!isAlreadyExists(error) && (isSeenAbsent || !isForbidden(error))) throw error;
      const observed = await read(kind, keyOf(manifest.metadata), signal);
      if (!observed) throw error; // Deleted again: the caller's retry reads it anew.
      return change(task, observed);
    }
  }

  async function change(task: Task, observed: Manifest): Promise<ApplyOutcome> {
    const { policy } = task;
    const refusal = refusalFor(task, observed);
    if (refusal !== undefined) return { result: "conflict", message: refusal };
    if (policy.mode === "read-only") return { result: "unchanged", object: observed };
    // A terminating object cannot be changed to stay; it is created again after its deletion.
    if (observed.metadata.deletionTimestamp) return { result: "unchanged", object: observed };
    if (policy.mode === "create-only") return holdOnly(task, observed);

    const retained = await retain(task, observed);
    const drift = driftOf(task, retained, observed);
    if (drift === "settled") return { result: "unchanged", object: observed };
    const isReport = policy.drift === "report" && isOurs(observed, policy.owner);
    if (isReport && isSameDelivery(retained, observed)) return { result: "unchanged", object: observed, drift };
    policy.beforeRequest?.();
    await policy.beforeWrite?.();
    // A field without an owner is missing because the manifest is new.
    const left = isReport ? drift.filter(({ by }) => by !== undefined) : [];
    const reported = isReport ? left : drift;
    const object =
      policy.mode === "update" ? await put(task, retained, observed) : await apply(task, retained, observed, left);
    settled.set(task.kind, keyOf(object.metadata), {
      generation: object.metadata.generation,
      written: digestOf(retained),
    });
    return {
      result: "updated",
      object,
      drift: isOurs(observed, policy.owner) && reported.length > 0 ? reported : undefined,
    };
  }

  /** Why an existing object may not be changed; undefined when it may. */
  function refusalFor({ manifest, policy }: Task, observed: Manifest): string | undefined {
    if (policy.shared) return policy.mode === "read-only" ? undefined : refusalOf(observed, manifest, policy.shared);
    if (isOurs(observed, policy.owner)) return undefined;
    // Also a released object that could be taken back: another holder has it.
    if (holdersOf(observed).length > 0) return holderText(observed, cluster);
    return policy.adopt || isReleasedFrom(observed, policy.owner) ? undefined : conflictText(observed, cluster);
  }

  /** An object that we may not change: only its owner references are maintained. */
  async function holdOnly({ kind, policy, signal }: Task, observed: Manifest): Promise<ApplyOutcome> {
    const references = policy.shared && plannedReferences(observed, policy.shared);
    if (!references) return { result: "unchanged", object: observed };
    policy.beforeRequest?.();
    await policy.beforeWrite?.();
    const patch = {
      metadata: {
        ownerReferences: references,
        uid: observed.metadata.uid ?? null,
        resourceVersion: observed.metadata.resourceVersion ?? null,
      },
    };
    return {
      result: "updated",
      object: await client.patch(kind, keyOf(observed.metadata), patch as unknown as Json, {
        type: "merge",
        signal,
        fieldManager: policy.fieldManager,
      }),
    };
  }

  function put({ kind, policy, signal }: Task, retained: Manifest, observed: Manifest): Promise<Manifest> {
    const references = policy.shared && plannedReferences(observed, policy.shared);
    const planned = planPut(retained, observed);
    return client.update(kind, cluster, references ? withOwners(planned, references) : planned, {
      signal,
      fieldManager: policy.shared ? policy.fieldManager : undefined,
    });
  }

  /**
   * The manifest with the fields that the member decides: those its kind retains, and its replicas while an autoscaler
   * scales it there.
   */
  async function retain(task: Task, observed: Manifest): Promise<Manifest> {
    const { manifest, policy } = task;
    const retained = (await policy.retain?.(manifest, observed)) ?? manifest;
    const theirs = replicasOf(observed);
    const ours = replicasOf(retained);
    if (policy.replicas === undefined || ours === undefined || theirs === undefined || ours === theirs) return retained;
    // Called even when the result is not needed: it starts watching autoscalers, so that the deletion of one is
    // noticed.
    if (!(await isAutoscaled(task)) && policy.replicas === "autoscaled") return retained;
    return { ...retained, spec: { ...(retained as unknown as { spec: object }).spec, replicas: theirs } } as Manifest;
  }

  async function isAutoscaled({ kind, manifest, policy, signal }: Task): Promise<boolean> {
    const key = keyOf(manifest.metadata);
    const seen = observer.autoscalerOf(kind, key);
    if (seen !== "unknown") return seen !== "none";
    policy.beforeRequest?.();
    try {
      const { items } = await client.list(HorizontalPodAutoscaler, {
        cluster,
        namespace: key.namespace || undefined,
        signal,
      });
      return items.some(
        ({ spec: { scaleTargetRef } }) =>
          scaleTargetRef.name === key.name && groupKind(scaleTargetRef) === `${kind.group}/${kind.kind}`,
      );
    } catch (error) {
      // A member that does not serve autoscalers has none. If the hub may not read them, the member decides itself who
      // may scale.
      if (isNotFound(error) || isForbidden(error)) return false;
      throw error;
    }
  }

  async function apply(
    { kind, manifest, policy, signal }: Task,
    retained: Manifest,
    observed: Manifest,
    leftToThem: readonly FieldDrift[],
  ): Promise<Manifest> {
    const { fieldManager, force } = policy;
    const applied = withoutRetained(
      manifest,
      retained,
      observed.metadata.managedFields?.map(({ fieldsV1 }) => fieldsV1 as FieldSet | undefined),
    );
    const ignored = policy.ignoreFields ?? [];
    let wanted = ignored.reduce(withoutPath, applied.wanted);
    for (const { steps } of leftToThem) wanted = withoutSteps(wanted, steps);
    const left = [...applied.left, ...ignored.map((path) => path.split("."))];
    // A shared delivery keeps the other managers' fields.
    const isAdopted = !policy.shared && !isOurs(observed, policy.owner) && !isReleasedFrom(observed, policy.owner);
    const managedFields = planTakeover({
      manager: fieldManager,
      manifest: wanted,
      observed,
      isAdopted,
      left,
      predecessors: policy.shared ? STOCK_AGENTS : undefined,
    });
    const isReleased = observed.metadata.annotations?.[RELEASED_FROM] !== undefined;
    const { resourceVersion } = (
      managedFields || isReleased ? await prepare(kind, observed, managedFields, signal) : observed
    ).metadata;
    // Only the inspected object is changed: one that replaced it since then causes a conflict and is inspected again.
    const stated = withHolders(wanted, observed, policy);
    const judged = { ...stated, metadata: { ...stated.metadata, ...(resourceVersion && { resourceVersion }) } };
    return client.apply(kind, cluster, judged, { force, fieldManager, signal });
  }

  /** Moves field ownership to our manager, and removes the release annotation, which is no longer needed. */
  function prepare(
    kind: AnyKind,
    { metadata }: Manifest,
    managedFields: object | undefined,
    signal: AbortSignal,
  ): Promise<Manifest> {
    const patch = {
      metadata: {
        managedFields,
        resourceVersion: metadata.resourceVersion ?? null,
        annotations: { [RELEASED_FROM]: null },
      },
    };
    return client.patch(kind, keyOf(metadata), patch as unknown as Json, { type: "merge", signal });
  }

  /** `settled` when there is nothing to do; otherwise the fields changed on the member, possibly none. */
  function driftOf({ kind, policy }: Task, wanted: Manifest, observed: Manifest): FieldDrift[] | "settled" {
    const { generation } = observed.metadata;
    if (hasMoreToWrite(wanted, observed, policy)) return [];
    const last = settled.get(kind, keyOf(observed.metadata));
    // Only metadata and status changed since then.
    const isQuiet =
      generation !== undefined && last?.generation === generation && holdsIn(wanted.metadata, observed.metadata);
    if (isSameDelivery(wanted, observed)) {
      if (isQuiet && last?.found === wanted) return "settled";
      if (holdsIn(wanted, observed)) {
        settled.set(kind, keyOf(observed.metadata), { generation, found: wanted });
        return "settled";
      }
    } else if (policy.drift !== "report" || !isOurs(observed, policy.owner)) return [];
    const drift = findDrift(wanted, observed, observed.metadata.managedFields ?? [], policy.fieldManager).filter(
      ({ steps }) => !isIgnored(steps, policy),
    );
    if (!isSameDelivery(wanted, observed)) return drift;
    const isWritten = policy.drift !== "report" && isQuiet && last?.written === digestOf(wanted);
    return drift.length === 0 || isWritten ? "settled" : drift;
  }

  async function removeOne(kind: AnyKind, ref: ObjectRef, policy: RemovePolicy, signal: AbortSignal): Promise<void> {
    const key = keyOf(ref);
    const observed = await read(kind, key, signal);
    if (!observed || !isOurs(observed, policy.owner) || isOfAnother(observed, policy.ownerId)) return;
    const held =
      policy.mode === "delete" && policy.whenHolding && !observed.metadata.deletionTimestamp
        ? await holdings.of(observed, signal)
        : undefined;
    const then = held === undefined ? policy.mode : policy.whenHolding?.(held);
    if (then === "leave") return;
    try {
      if (then === "release")
        await client.patch(
          kind,
          key,
          releasePatch(observed, FIELD_MANAGER, policy.mayReturn || held !== undefined ? policy.owner : undefined),
          { type: "merge", signal },
        );
      else if (!observed.metadata.deletionTimestamp) {
        const { uid } = observed.metadata;
        await client.delete(kind, key, {
          propagationPolicy: policy.propagationPolicy ?? "Background",
          preconditions: uid ? { uid } : undefined,
          signal,
        });
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return {
    async apply(manifest, policy, signal) {
      const kind = await resolve(manifest, policy);
      const task: Task = { kind, manifest: markFor(inServedVersion(manifest, kind), policy), policy, signal };
      for (let attempt = 0; ; attempt++) {
        // After a conflict the informer may lag, so the second attempt reads from the member itself.
        const observed = attempt === 0 ? await observe(task) : await read(kind, keyOf(manifest.metadata), signal);
        try {
          if (observed) return await change(task, observed);
          if (policy.mode === "read-only") return { result: "absent" };
          return await create(task);
        } catch (error) {
          // The kind itself may have been deleted, or be served under another name: the next attempt runs discovery
          // again.
          if (isNotFound(error)) kinds.forget(manifest);
          if (!isConflict(error) || isFieldConflict(error) || attempt >= RACE_RETRIES) throw error;
        }
      }
    },

    async remove(ref, policy, signal) {
      policy.beforeRequest?.();
      const kind = await servedKind(ref, policy);
      if (!kind) return; // Without its kind the object cannot exist.
      settled.forget(kind, keyOf(ref));
      for (let attempt = 0; ; attempt++) {
        try {
          return await removeOne(kind, ref, policy, signal);
        } catch (error) {
          if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;
        }
      }
    },

    disown: createDisown({ client, cluster, settled }),
    kindOf: resolve,
    observe: (refs: Iterable<ObjectRef>) => subscribe({ cluster, kinds, observer }, refs),
  };
}

const markFor = (manifest: Manifest, policy: ApplyPolicy): Manifest =>
  policy.shared ? withNote(manifest, policy) : mark(manifest);
const withOwners = (
  manifest: Manifest,
  ownerReferences: NonNullable<Manifest["metadata"]["ownerReferences"]>,
): Manifest => ({ ...manifest, metadata: { ...manifest.metadata, ownerReferences } });

/** Every apply specifies all holders: one manager serves several of them, and an omitted one would be removed. */
function withHolders(wanted: Manifest, observed: Manifest, { shared }: ApplyPolicy): Manifest {
  if (!shared) return wanted;
  const holders = [
    ...otherHolders(observed, shared.reference).filter(({ name }) => name !== shared.reference.name),
    ...(shared.isHeld ? [shared.reference] : []),
  ];
  return holders.length === 0 ? wanted : withOwners(wanted, [...(wanted.metadata.ownerReferences ?? []), ...holders]);
}

/** Differences that a field comparison misses: owner references, and maps with extra entries. */
function hasMoreToWrite(wanted: Manifest, observed: Manifest, { shared, exact = [] }: ApplyPolicy): boolean {
  if (shared && plannedReferences(observed, shared)) return true;
  const fieldOf = (object: Manifest, field: string): unknown =>
    (object as unknown as Record<string, unknown>)[field] ?? {};
  return exact.some((field) => !equalJson(fieldOf(wanted, field), fieldOf(observed, field)));
}

function isIgnored(steps: readonly string[], { ignoreFields = [] }: ApplyPolicy): boolean {
  const path = steps.map((step) => step.slice("f:".length)).join(".");
  return ignoreFields.some((ignored) => path === ignored || path.startsWith(`${ignored}.`));
}

function replicasOf(object: Manifest): number | undefined {
  const { spec } = object as { spec?: unknown };
  const replicas = isObject(spec) && Object.hasOwn(spec, "replicas") ? spec["replicas"] : undefined;
  return typeof replicas === "number" ? replicas : undefined;
}

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status.code === 403;
/** Karmada's message, which users and their tools know. */
function conflictText({ kind, metadata }: Manifest, cluster: string): string {
  const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  return `resource(kind=${kind}, ${name}) already exists in the cluster ${cluster} and the work.karmada.io/conflict-resolution strategy value is empty, Flotilla will not manage this resource; set conflictResolution: Overwrite in the policy to take it over`;
}
