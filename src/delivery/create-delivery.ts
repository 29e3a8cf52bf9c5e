/**
 * Delivery to one member through a client of it. Reads come from informers where they are fresh; writes happen only where
 * the member differs from what is wanted, so a converged fleet is silent.
 *
 * Ownership: an object is created with `create`, which cannot touch one that somebody else made in the meantime. Its first
 * change moves the fields from that write to our apply manager, so that a field dropped from the manifest disappears.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";
import { find, UnknownKindError } from "../client/index.ts";
import type { AnyKind, Client, KindResolver, ObjectKey } from "../client/index.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../machinery/index.ts";
import { holdsIn, withoutPath, withoutRetained } from "./compare.ts";
import type { ApplyOutcome, ApplyPolicy, Delivery, ObjectRef } from "./delivery.ts";
import { APPLIED_DIGEST, isOurs, mark, releasePatch } from "./marks.ts";
import type { Observer } from "./observer.ts";
import { planTakeover } from "./plan-takeover.ts";
import { subscribe } from "./subscription.ts";

type Manifest = DeepReadonly<KubernetesObject>;

export interface DeliveryDependencies {
  client: Client;
  cluster: string;
  kinds: KindResolver;
  observer: Observer;
}

/** How often a write is tried again when the object changes under it, before the caller's back-off takes over. */
const RACE_RETRIES = 3;

export function createDelivery({ client, cluster, kinds, observer }: DeliveryDependencies): Delivery {
  /** The generation at which a manifest was last found applied; a server may spell values differently (`1000m`, `1`). */
  const settled = new Map<string, { digest: string; generation: number | undefined }>();

  const keyOf = ({ namespace, name }: { namespace?: string | undefined; name: string }): ObjectKey => ({ cluster, ...(namespace && { namespace }), name });

  async function observe(kind: AnyKind, key: ObjectKey, signal: AbortSignal): Promise<Manifest | undefined> {
    const informer = observer.informer(kind);
    if (informer.synced) return informer.get(key);
    return read(kind, key, signal);
  }

  const read = (kind: AnyKind, key: ObjectKey, signal: AbortSignal): Promise<Manifest | undefined> => find(client, kind, key, { signal });

  /** Undefined when the member was asked and does not serve the kind. */
  async function servedKind(ref: ObjectRef): Promise<AnyKind | undefined> {
    try {
      return await kinds.resolve(ref);
    } catch (error) {
      if (error instanceof UnknownKindError) return undefined;
      throw error;
    }
  }

  async function create(kind: AnyKind, manifest: Manifest, policy: ApplyPolicy, signal: AbortSignal): Promise<ApplyOutcome> {
    try {
      return { result: "created", object: await client.create(kind, cluster, manifest, { signal }) };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const observed = await read(kind, keyOf(manifest.metadata), signal);
      if (!observed) throw error; // Gone again: the caller's retry looks afresh.
      return change(kind, manifest, observed, policy, signal);
    }
  }

  async function change(kind: AnyKind, manifest: Manifest, observed: Manifest, policy: ApplyPolicy, signal: AbortSignal): Promise<ApplyOutcome> {
    if (!isOurs(observed) && !policy.adopt) return { result: "conflict", message: conflictText(observed, cluster) };
    if (policy.mode === "create-only" || policy.mode === "read-only") return { result: "unchanged", object: observed };

    const retained = (await policy.retain?.(manifest, observed)) ?? manifest;
    if (isSettled(retained, observed)) return { result: "unchanged", object: observed };
    const object = policy.mode === "update" ? await put(kind, retained, observed, signal) : await apply(kind, manifest, retained, observed, policy, signal);
    settle(object);
    return { result: "updated", object };
  }

  async function apply(kind: AnyKind, manifest: Manifest, retained: Manifest, observed: Manifest, policy: ApplyPolicy, signal: AbortSignal): Promise<Manifest> {
    const { resourceVersion } = (await takeOwnership(kind, observed, policy.fieldManager, signal)).metadata;
    let wanted = withoutRetained(manifest, retained);
    for (const path of policy.ignoreFields ?? []) wanted = withoutPath(wanted, path);
    // Only what was judged is changed: an object that somebody put in its place since then is a conflict, and judged anew.
    const judged = { ...wanted, metadata: { ...wanted.metadata, ...(resourceVersion && { resourceVersion }) } };
    return client.apply(kind, cluster, judged, { force: policy.force, fieldManager: policy.fieldManager, signal });
  }

  /** What we, or Karmada before us, wrote by create or PUT becomes ours by apply, so that a field missing from the next manifest is removed. */
  async function takeOwnership(kind: AnyKind, observed: Manifest, manager: string, signal: AbortSignal): Promise<Manifest> {
    const managedFields = planTakeover(observed.metadata.managedFields ?? [], manager, !isOurs(observed));
    if (!managedFields) return observed;
    const patch = { metadata: { managedFields, resourceVersion: observed.metadata.resourceVersion ?? null } };
    return client.patch(kind, keyOf(observed.metadata), patch as unknown as Json, { type: "merge", signal });
  }

  /** Karmada's way: the whole object, with what the member's own controllers put into its metadata kept. */
  async function put(kind: AnyKind, wanted: Manifest, observed: Manifest, signal: AbortSignal): Promise<Manifest> {
    const { resourceVersion, finalizers, ownerReferences, labels, annotations } = observed.metadata;
    const metadata = {
      ...wanted.metadata,
      resourceVersion,
      ...(finalizers && { finalizers }),
      ...(ownerReferences && { ownerReferences }),
      labels: { ...labels, ...wanted.metadata.labels },
      annotations: { ...annotations, ...wanted.metadata.annotations },
    };
    return client.update(kind, cluster, { ...wanted, metadata } as never, { signal });
  }

  function isSettled(wanted: Manifest, observed: Manifest): boolean {
    const digest = wanted.metadata.annotations?.[APPLIED_DIGEST];
    if (digest !== observed.metadata.annotations?.[APPLIED_DIGEST]) return false;
    if (holdsIn(wanted, observed)) return true;
    const last = settled.get(placeOf(observed));
    return last !== undefined && last.digest === digest && last.generation !== undefined && last.generation === observed.metadata.generation && holdsIn(wanted.metadata, observed.metadata);
  }

  function settle(object: Manifest): void {
    settled.set(placeOf(object), { digest: object.metadata.annotations?.[APPLIED_DIGEST] ?? "", generation: object.metadata.generation });
  }

  return {
    async apply(manifest, policy, signal) {
      const kind = await kinds.resolve(manifest);
      const marked = mark(manifest);
      for (let attempt = 0; ; attempt++) {
        // After a race the informer may still be behind, so the second look asks the member itself.
        const observed = attempt === 0 ? await observe(kind, keyOf(manifest.metadata), signal) : await read(kind, keyOf(manifest.metadata), signal);
        try {
          if (observed) return await change(kind, marked, observed, policy, signal);
          if (policy.mode === "read-only") return { result: "absent" };
          return await create(kind, marked, policy, signal);
        } catch (error) {
          // Not the object but its kind may be gone, or served under another name: the next try asks the member again.
          if (isNotFound(error)) kinds.forget(manifest);
          if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;
        }
      }
    },

    async remove(ref, policy, signal) {
      const kind = await servedKind(ref);
      if (!kind) return; // With its kind the object is gone as well.
      const key = keyOf(ref);
      const observed = await read(kind, key, signal);
      settled.delete(placeOf({ ...ref, metadata: { name: ref.name, namespace: ref.namespace } }));
      if (!observed || !isOurs(observed)) return;
      try {
        if (policy.mode === "release") await client.patch(kind, key, releasePatch(observed), { type: "merge", signal });
        else if (!observed.metadata.deletionTimestamp) {
          const { uid } = observed.metadata;
          await client.delete(kind, key, { propagationPolicy: policy.propagationPolicy ?? "Background", ...(uid && { preconditions: { uid } }), signal });
        }
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },

    observe: (refs: Iterable<ObjectRef>) => subscribe({ cluster, kinds, observer }, refs),
  };
}

function placeOf({ apiVersion, kind, metadata }: { apiVersion: string; kind: string; metadata: { namespace?: string | undefined; name: string } }): string {
  return `${apiVersion}/${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Karmada's sentence, which users and their tools know. */
function conflictText({ kind, metadata }: Manifest, cluster: string): string {
  const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  return `resource(kind=${kind}, ${name}) already exists in the cluster ${cluster} and the work.karmada.io/conflict-resolution strategy value is empty, Flotilla will not manage this resource; conflictResolution: Overwrite in the policy takes it over`;
}
