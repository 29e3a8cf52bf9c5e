/**
 * Deletion. An object without finalizers is deleted immediately; otherwise it is marked, and deleted with its last
 * finalizer. Pods wait for their kubelet.
 */
import { formatTime, isObject, objectOf, defined, omitEmpty } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { CONFLICT_MESSAGE, conflict, isNotFound, notFound } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import { admitDeletion } from "./admit.ts";
import { concurrently } from "./concurrently.ts";
import type { RequestContext } from "../request/context.ts";
import { isDefinition } from "../resources/definition.ts";
import { crdMarkedForDeletion } from "../crd/custom-object-rules.ts";
import type { DeletionOptions } from "./delete-options.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { checkNamespaceDeletion } from "./namespaces.ts";
import { isNamespaceKind, keyOf } from "../resources/resources.ts";
import { MAX_ATTEMPTS } from "../clusters/attempts.ts";
import { unstoredEntry } from "../clusters/objects.ts";
import type { Found } from "../clusters/objects.ts";
import { graceSecondsOf } from "./pods.ts";
import { listObjects } from "../read/read.ts";
import type { ListResult } from "../read/read.ts";
import { objectIn, ordered, settledIn, viewOfWritten } from "../codec/render.ts";
import type { Resource } from "../resources/resources.ts";
import { reserve } from "./reserve.ts";
import { deletionOf } from "./review.ts";
import type { WriteDependencies } from "./store-object.ts";
import type { WriteCause } from "../clusters/write-counter.ts";
import { textOf } from "../codec/text.ts";
import { prepareStored } from "./update.ts";

export const FOREGROUND_FINALIZER = "foregroundDeletion";
export const ORPHAN_FINALIZER = "orphan";

/** The result of a deletion: the object's last state while it waits, otherwise a success status. */
export type Deleted = { entry: CachedEntry; gone: boolean };

export async function deleteObject(
  deps: WriteDependencies,
  context: RequestContext,
  options: DeletionOptions,
  verb: "delete" | "deletecollection" = "delete",
): Promise<Deleted> {
  const { cluster, served, namespace, name = "" } = context;
  const { resource } = served;
  const key = keyOf(resource, cluster.name, namespace, name);
  if (isNamespaceKind(resource)) checkNamespaceDeletion(name);
  const remove = async (): Promise<Deleted> => {
    for (let attempt = 1; ; attempt++) {
      const found = deps.store.find(cluster, resource, key);
      if (!found.entry) throw notFound(resource.name, name);
      const preparing = prepareStored(deps, context, found.entry);
      if (preparing) await preparing;
      const object = objectIn(found.entry, served);
      checkPreconditions(resource, name, object, options);
      const review = options.isAdmitted ? undefined : deletionOf(context, object, options);
      const admission = review && admitDeletion(deps, review);
      if (admission) await admission;
      if (isJob(resource) && options.propagation === undefined) context.warn(JOB_WARNING);
      const reserving = review && !options.dryRun ? reserve(deps, review) : undefined;
      const reservation = reserving && (await reserving);
      let deleted: Deleted | undefined;
      if (reservation !== "stale") {
        try {
          deleted = await removeOrMark(deps, context, options, { ...found, entry: found.entry }, verb);
        } finally {
          if (!deleted) await reservation?.release();
        }
      }
      if (deleted) return deleted;
      if (attempt === MAX_ATTEMPTS) throw conflict(resource.name, name, CONFLICT_MESSAGE);
    }
  };
  // A webhook may take seconds, and may write the object itself: others do not wait for it.
  return resource.conversion || deps.configured.callsWebhooks(context, "DELETE")
    ? remove()
    : deps.cache.exclusive(key, remove);
}

const JOB_WARNING =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them " +
  "or set propagationPolicy=Orphan to suppress this warning";
const isJob = ({ kind }: Resource): boolean => kind.builtIn && kind.group === "batch" && kind.kind === "Job";
const isPod = ({ kind }: Resource): boolean => kind.group === "" && kind.kind === "Pod";

async function removeOrMark(
  deps: WriteDependencies,
  context: RequestContext,
  options: DeletionOptions,
  found: Found & { entry: CachedEntry },
  verb: WriteCause["verb"],
): Promise<Deleted | undefined> {
  const { cluster, served } = context;
  const { resource } = served;
  const { storage } = resource;
  const cause: WriteCause = { verb, name: resource.name };
  const { marked, gone } = markedForDeletion(objectIn(found.entry, storage), resource, options, deps.clock.now());
  const written = marked && viewOfWritten(storage, marked, settledIn(found.entry, storage) !== undefined);
  if (options.dryRun) return { entry: written ? unstoredEntry(found, written) : found.entry, gone };
  // Watchers of pods see that a pod is terminating before it is deleted. The server's own controllers
  // (`IsController`) do not need that event.
  if (written && !(gone && context.byController)) {
    const entry = await deps.store.put(cluster, found, written, cause);
    if (!entry) return undefined;
    if (isDefinition(resource)) deps.clusters.refresh(cluster);
    if (!gone) return { entry, gone };
    return remove(deps, context, { ...found, entry, expect: entry.revision }, cause);
  }
  return gone ? remove(deps, context, found, cause) : { entry: found.entry, gone };
}

/** The last state is returned at the revision of the deletion. */
async function remove(
  { store }: WriteDependencies,
  { cluster, served: { resource } }: RequestContext,
  found: Found & { entry: CachedEntry },
  cause: WriteCause,
): Promise<Deleted | undefined> {
  const { key, value } = found.entry;
  const revision = await store.remove(cluster, resource, found, cause);
  return revision === undefined ? undefined : { entry: { key, value, revision }, gone: true };
}

interface Marked {
  /** The object with its deletion timestamp, in its storage version; unset when nothing changes. */
  marked?: JsonObject;
  /** The object has nothing left to wait for. */
  gone: boolean;
}

function markedForDeletion(object: JsonObject, resource: Resource, options: DeletionOptions, nowMs: number): Marked {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  if (isDefinition(resource) && metadata.deletionTimestamp === undefined)
    return { marked: ordered(crdMarkedForDeletion(object, formatTime(nowMs))), gone: false };
  const finalizers = finalizersFor(metadata, resource, options);
  const isWaiting = finalizers.length > 0 || (isNamespaceKind(resource) && hasOwnFinalizers(object));
  const mark = isPod(resource)
    ? podMark(object, metadata, options, nowMs)
    : plainMark(metadata, nowMs, isNamespaceKind(resource));
  if (mark === "pending") return { gone: false };
  // Only pods are marked as terminating when nothing holds them; other objects are deleted immediately.
  if (!isWaiting && !isPod(resource)) return { gone: true };
  const gone = !isWaiting && (mark === undefined ? true : mark.deletionGracePeriodSeconds === 0);
  const before = finalizersOf(metadata);
  const isSame =
    mark === undefined &&
    finalizers.length === before.length &&
    finalizers.every((finalizer) => before.includes(finalizer));
  if (isSame) return { gone };
  const { finalizers: __, ...rest } = metadata;
  const marked: JsonObject = {
    ...object,
    metadata: {
      ...rest,
      ...(isNamespaceKind(resource) && mark ? { deletionTimestamp: mark.deletionTimestamp } : mark),
      ...defined({
        generation:
          metadata.deletionTimestamp === undefined && typeof metadata.generation === "number" && metadata.generation > 0
            ? metadata.generation + 1
            : undefined,
      }),
      ...omitEmpty({ finalizers }),
    },
  };
  if (isNamespaceKind(resource)) marked.status = { ...objectOf(object.status), phase: "Terminating" };
  return { marked: ordered(marked), gone };
}

function hasOwnFinalizers({ spec }: JsonObject): boolean {
  return isObject(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0;
}

type Mark = { deletionTimestamp: string; deletionGracePeriodSeconds: number };

/** Marks an object of a kind without a grace period; undefined when it is already marked. */
function plainMark(
  { deletionTimestamp, deletionGracePeriodSeconds }: JsonObject,
  nowMs: number,
  isNamespace: boolean,
): Mark | undefined {
  // Namespaces have no grace period: their deletion takes as long as necessary.
  if (typeof deletionTimestamp === "string" && (isNamespace || deletionGracePeriodSeconds === 0)) return undefined;
  return {
    deletionTimestamp: typeof deletionTimestamp === "string" ? deletionTimestamp : formatTime(nowMs),
    deletionGracePeriodSeconds: 0,
  };
}

/**
 * Marks a pod, which gets time to stop. That time can only be shortened; requests for a longer one, or for none in
 * particular, wait for the current deadline.
 */
function podMark(
  pod: JsonObject,
  { deletionTimestamp, deletionGracePeriodSeconds }: JsonObject,
  { graceSeconds }: DeletionOptions,
  nowMs: number,
): Mark | "pending" | undefined {
  if (typeof deletionTimestamp !== "string") {
    const grace = graceSecondsOf(pod, graceSeconds);
    return { deletionTimestamp: formatTime(nowMs + grace * 1000), deletionGracePeriodSeconds: grace };
  }
  const before = typeof deletionGracePeriodSeconds === "number" ? deletionGracePeriodSeconds : 0;
  if (before === 0) return undefined;
  const asked = graceSeconds === undefined ? before : graceSeconds < 0 ? 1 : graceSeconds;
  if (asked >= before) return "pending";
  const end = Date.parse(deletionTimestamp) + (asked - before) * 1000;
  // The deadline has passed: the kubelet gets the minimum.
  const grace = end < nowMs && asked !== 0 ? 1 : asked;
  return { deletionTimestamp: formatTime(Math.max(end, nowMs)), deletionGracePeriodSeconds: grace };
}

/**
 * The finalizers that implement the propagation policy: that of the request, the one chosen before, or the kind's
 * default.
 */
function finalizersFor(metadata: JsonObject, resource: Resource, { propagation }: DeletionOptions): string[] {
  const before = finalizersOf(metadata);
  const others = before.filter((finalizer) => finalizer !== FOREGROUND_FINALIZER && finalizer !== ORPHAN_FINALIZER);
  const chosen =
    propagation ?? chosenBefore(before) ?? (resource.kind.traits?.orphansDependents ? "Orphan" : "Background");
  return [
    ...others,
    ...(chosen === "Foreground" ? [FOREGROUND_FINALIZER] : chosen === "Orphan" ? [ORPHAN_FINALIZER] : []),
  ];
}

function chosenBefore(finalizers: readonly string[]): "Foreground" | "Orphan" | undefined {
  const first = finalizers.find((finalizer) => finalizer === FOREGROUND_FINALIZER || finalizer === ORPHAN_FINALIZER);
  return first === undefined ? undefined : first === ORPHAN_FINALIZER ? "Orphan" : "Foreground";
}

function checkPreconditions(
  { kind, name: resource }: Resource,
  name: string,
  object: JsonObject,
  { preconditions }: DeletionOptions,
): void {
  const { uid, resourceVersion } = metadataOf(object);
  const isNamespace = kind.group === "" && kind.kind === "Namespace";
  const about = isNamespace ? resource : { group: kind.group, resource: kind.kind };
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      about,
      name,
      isNamespace
        ? `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${textOf(uid)}`
        : `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${textOf(uid)}). ` +
            "The object might have been deleted and then recreated",
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      about,
      name,
      isNamespace
        ? `Precondition failed: ResourceVersion in precondition: ${preconditions.resourceVersion}, ResourceVersion in object meta: ${textOf(resourceVersion)}`
        : `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ` +
            `ResourceVersion in record (${textOf(resourceVersion)}). The object might have been modified`,
    );
  }
}

/** Kinds whose deletion returns the object even when it is deleted immediately. */
export function answersWithObject({ kind }: Resource): boolean {
  return kind.traits?.deletionReturnsObject === true;
}

/** The response to a completed deletion. */
export function deletedStatus({ name: { group, resource } }: Resource, object: JsonObject): Omit<Status, "code"> {
  const { name, uid } = metadataOf(object);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: textOf(name),
      group: group || undefined,
      kind: resource,
      uid: typeof uid === "string" ? uid : undefined,
    },
  };
}

/** Deletes the objects that a list selects, each as in a single deletion. Returns the list. */
export async function deleteCollection(
  deps: WriteDependencies,
  context: RequestContext,
  options: DeletionOptions,
): Promise<ListResult> {
  const result = await listObjects(deps, context);
  await concurrently(result.entries, context.signal, async (entry) => {
    const metadata = metadataOf(objectIn(entry, context.served.resource.storage));
    const item: RequestContext = {
      ...context,
      name: textOf(metadata.name),
      ...defined({ namespace: typeof metadata.namespace === "string" ? metadata.namespace : undefined }),
    };
    try {
      await deleteObject(deps, item, options, "deletecollection");
    } catch (error) {
      // Another client deleted it first.
      if (!isNotFound(error)) throw error;
    }
  });
  return result;
}
