/**
 * Delivery to one member through a client of it. Reads come from informers where they are fresh; writes happen only
 * where the member differs from what is wanted, so a converged fleet is silent.
 *
 * Ownership: an object is created with `create`, which cannot touch one that somebody else made in the meantime. Its
 * first change moves the fields from that write to our apply manager, so that a field dropped from the manifest
 * disappears.
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

/** How often a write is tried again when the object changes under it, before the caller's back-off takes over. */
const RACE_RETRIES = 3;

/** What is being delivered: the kind as the member serves it, and the manifest in that version with our marks. */
interface Task {
  kind: AnyKind;
  manifest: Manifest;
  policy: ApplyPolicy;
  signal: AbortSignal;
}

interface Settled {
  generation: number | undefined;
  /** What was found in place; manifests are shared, so that a look at the reference mostly tells. */
  found?: Manifest;
  /**
   * A digest of what was written. A member whose ownership records are incomplete and that spells values differently
   * (`1000m`, `1`) would otherwise be written to for ever.
   */
  written?: string;
}

export function createDelivery({ client, cluster, kinds: asked, observer, clock }: DeliveryDependencies): Delivery {
  const kinds = createServedKinds(asked);
  const holdings = createHoldings({ client, cluster });
  /** By object, the generation at which it was last found as wanted, or written. */
  const settled = new Map<string, Settled>();

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
    // After a start of the hub a member may have thousands of its objects: one list tells of them all.
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

  /** Undefined when the member was asked and does not serve the kind. */
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
      // Whoever shares may also take over what is there, so that nothing is lost by not insisting on its absence.
      const written =
        shared && policy.mode === "apply"
          ? client.apply(kind, cluster, wanted, { force, fieldManager, signal })
          : client.create(kind, cluster, wanted, { signal, fieldManager: shared ? fieldManager : undefined });
      return { result: "created", object: await written };
    } catch (error) {
      // A server asks for the right to create before it looks whether the object is there: who may only change this one
      // is refused.
      if (!isAlreadyExists(error) && (isSeenAbsent || !isForbidden(error))) throw error;
      const observed = await read(kind, keyOf(manifest.metadata), signal);
      if (!observed) throw error; // Gone again: the caller's retry looks afresh.
      return change(task, observed);
    }
  }

  async function change(task: Task, observed: Manifest): Promise<ApplyOutcome> {
    const { policy } = task;
    const refusal = refusalFor(task, observed);
    if (refusal !== undefined) return { result: "conflict", message: refusal };
    if (policy.mode === "read-only") return { result: "unchanged", object: observed };
    // What is going away cannot be changed to stay; once it is gone it is made again.
    if (observed.metadata.deletionTimestamp) return { result: "unchanged", object: observed };
    if (policy.mode === "create-only") return holdOnly(task, observed);

    const retained = await retain(task, observed);
    const drift = driftOf(retained, observed, policy);
    if (drift === "settled") return { result: "unchanged", object: observed };
    const isReport = policy.drift === "report" && isOurs(observed, policy.owner);
    if (isReport && isSameDelivery(retained, observed)) return { result: "unchanged", object: observed, drift };
    policy.beforeRequest?.();
    await policy.beforeWrite?.();
    // What nobody owns is not there because the manifest is new.
    const left = isReport ? drift.filter(({ by }) => by !== undefined) : [];
    const told = isReport ? left : drift;
    const object =
      policy.mode === "update" ? await put(task, retained, observed) : await apply(task, retained, observed, left);
    settled.set(placeOf(object), { generation: object.metadata.generation, written: digestOf(retained) });
    return { result: "updated", object, drift: isOurs(observed, policy.owner) && told.length > 0 ? told : undefined };
  }

  /** Why an object that is there may not be touched; undefined when it may. */
  function refusalFor({ manifest, policy }: Task, observed: Manifest): string | undefined {
    if (policy.shared) return policy.mode === "read-only" ? undefined : refusalOf(observed, manifest, policy.shared);
    if (isOurs(observed, policy.owner)) return undefined;
    // Also one that was let go and may come back: somebody else has it now.
    if (holdersOf(observed).length > 0) return holderText(observed, cluster);
    return policy.adopt || isReleasedFrom(observed, policy.owner) ? undefined : conflictText(observed, cluster);
  }

  /** An object that is not ours to change: only its holders are kept right. */
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

  /** The manifest with what the member decides: what its kind says, and its replicas while they are scaled there. */
  async function retain(task: Task, observed: Manifest): Promise<Manifest> {
    const { manifest, policy } = task;
    const retained = (await policy.retain?.(manifest, observed)) ?? manifest;
    const theirs = replicasOf(observed);
    const ours = replicasOf(retained);
    if (policy.replicas === undefined || ours === undefined || theirs === undefined || ours === theirs) return retained;
    // Also where nobody need ask: from here on autoscalers are followed, so that the end of one is noticed.
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
      // A member that does not know autoscalers has none; one that does not show them decides itself who may scale.
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
    // Whoever shares an object leaves the others what they have.
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
    // Only what was judged is changed: an object that somebody put in its place since then is a conflict, and judged
    // anew.
    const stated = withHolders(wanted, observed, policy);
    const judged = { ...stated, metadata: { ...stated.metadata, ...(resourceVersion && { resourceVersion }) } };
    return client.apply(kind, cluster, judged, { force, fieldManager, signal });
  }

  /** Says who owns which fields, and takes the note of a release off, which has served its purpose. */
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

  /** `settled` when nothing is to be done; otherwise what somebody on the member changed, which may be nothing. */
  function driftOf(wanted: Manifest, observed: Manifest, policy: ApplyPolicy): FieldDrift[] | "settled" {
    const { generation } = observed.metadata;
    if (hasMoreToWrite(wanted, observed, policy)) return [];
    const last = settled.get(placeOf(observed));
    // Nobody changed more than metadata and status since then.
    const isQuiet =
      generation !== undefined && last?.generation === generation && holdsIn(wanted.metadata, observed.metadata);
    if (isSameDelivery(wanted, observed)) {
      if (isQuiet && last?.found === wanted) return "settled";
      if (holdsIn(wanted, observed)) {
        settled.set(placeOf(observed), { generation, found: wanted });
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
        // After a race the informer may still be behind, so the second look asks the member itself.
        const observed = attempt === 0 ? await observe(task) : await read(kind, keyOf(manifest.metadata), signal);
        try {
          if (observed) return await change(task, observed);
          if (policy.mode === "read-only") return { result: "absent" };
          return await create(task);
        } catch (error) {
          // Not the object but its kind may be gone, or served under another name: the next try asks the member again.
          if (isNotFound(error)) kinds.forget(manifest);
          if (!isConflict(error) || isFieldConflict(error) || attempt >= RACE_RETRIES) throw error;
        }
      }
    },

    async remove(ref, policy, signal) {
      policy.beforeRequest?.();
      const kind = await servedKind(ref, policy);
      if (!kind) return; // With its kind the object is gone as well.
      settled.delete(placeOf({ apiVersion: apiVersionOf(kind), kind: ref.kind, metadata: ref }));
      for (let attempt = 0; ; attempt++) {
        try {
          return await removeOne(kind, ref, policy, signal);
        } catch (error) {
          if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;
        }
      }
    },

    disown: createDisown({ client, cluster }),
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

/**
 * Holders are all stated by whoever applies: one manager serves several of them, and what it leaves out would be taken
 * off.
 */
function withHolders(wanted: Manifest, observed: Manifest, { shared }: ApplyPolicy): Manifest {
  if (!shared) return wanted;
  const holders = [
    ...otherHolders(observed, shared.reference).filter(({ name }) => name !== shared.reference.name),
    ...(shared.isHeld ? [shared.reference] : []),
  ];
  return holders.length === 0 ? wanted : withOwners(wanted, [...(wanted.metadata.ownerReferences ?? []), ...holders]);
}

/** What no comparison of fields shows: owners, and maps that hold more than they should. */
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
const apiVersionOf = ({ group, storageVersion }: AnyKind): string =>
  group ? `${group}/${storageVersion}` : storageVersion;

function placeOf({
  apiVersion,
  kind,
  metadata,
}: {
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string | undefined; name: string };
}): string {
  return `${apiVersion}/${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Karmada's sentence, which users and their tools know. */
function conflictText({ kind, metadata }: Manifest, cluster: string): string {
  const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  return `resource(kind=${kind}, ${name}) already exists in the cluster ${cluster} and the work.karmada.io/conflict-resolution strategy value is empty, Flotilla will not manage this resource; conflictResolution: Overwrite in the policy takes it over`;
}
