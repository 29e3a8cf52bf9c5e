/**
 * Deletion. An object without finalizers goes at once; otherwise it is marked, and goes when the last finalizer does. Pods
 * wait for whoever runs them.
 */
import { formatTime, isObject } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import { CHANGED_MEANWHILE, badRequest, conflict, invalid, notFound } from "../machinery/index.ts";
import type { FieldError, Status } from "../machinery/index.ts";
import type { CachedEntry } from "../store/index.ts";
import { admitDeletion } from "./admit.ts";
import { invalidValue, unsupportedValue } from "./context.ts";
import type { RequestContext } from "./context.ts";
import { CRD_FINALIZER, isDefinition } from "./crd.ts";
import { markTerminating } from "./crd-rules.ts";
import { finalizersOf, metadataOf } from "./metadata.ts";
import { checkNamespaceDeletion, isNamespaceKind } from "./namespaces.ts";
import type { Found } from "./objects.ts";
import { writeOptions } from "./options.ts";
import { graceSecondsOf } from "./pods.ts";
import { listObjects } from "./read.ts";
import type { ListResult } from "./read.ts";
import { objectIn, ordered, settledIn, viewOfWritten } from "./render.ts";
import { keyOf } from "./resources.ts";
import type { Resource } from "./resources.ts";
import type { WriteDependencies } from "./write.ts";
import type { WriteCause } from "./writes.ts";
import { textOf } from "./text.ts";

export const FOREGROUND_FINALIZER = "foregroundDeletion";
export const ORPHAN_FINALIZER = "orphan";

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeletionOptions {
  dryRun: boolean;
  graceSeconds?: number;
  propagation?: Propagation;
  preconditions: { uid?: string; resourceVersion?: string };
}

/** What is left of a deleted object: its last state when it waits for something, otherwise the word that it is gone. */
export type Deleted = { entry: CachedEntry; gone: boolean };

/** DeleteOptions from the body or, without one, from the query. */
export function deletionOptions(context: RequestContext, body: Json | undefined): DeletionOptions {
  const { query } = context;
  const { dryRun } = writeOptions(context, "DeleteOptions");
  const given = isObject(body) ? body : {};
  const grace = given.gracePeriodSeconds ?? seconds(query.get("gracePeriodSeconds"));
  const policy = given.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  const orphan = given.orphanDependents ?? (query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined);
  const preconditions = isObject(given.preconditions) ? given.preconditions : {};
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined && orphan !== null) errors.push(invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  if (policy !== undefined && policy !== "Background" && policy !== "Foreground" && policy !== "Orphan") errors.push(unsupportedValue("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  if (errors.length > 0) throw invalid("meta.k8s.io", "DeleteOptions", "", errors);
  const propagation = (policy as Propagation | undefined) ?? (orphan === true ? "Orphan" : orphan === false ? "Background" : undefined);
  return {
    dryRun: dryRun || (Array.isArray(given.dryRun) && given.dryRun.includes("All")),
    ...(typeof grace === "number" && Number.isFinite(grace) && { graceSeconds: grace }),
    ...(propagation && { propagation }),
    preconditions: {
      ...(typeof preconditions.uid === "string" && { uid: preconditions.uid }),
      ...(typeof preconditions.resourceVersion === "string" && { resourceVersion: preconditions.resourceVersion }),
    },
  };
}

function seconds(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

const MAX_ATTEMPTS = 5;

export async function deleteObject(deps: WriteDependencies, context: RequestContext, options: DeletionOptions, verb: "delete" | "deletecollection" = "delete"): Promise<Deleted> {
  const { cluster, served, namespace, name = "" } = context;
  const { resource } = served;
  const key = keyOf(resource, cluster.name, namespace, name);
  if (isNamespaceKind(resource)) checkNamespaceDeletion(name);
  return deps.cache.exclusive(key, async () => {
    for (let attempt = 1; ; attempt++) {
      const found = deps.store.find(cluster, resource, key);
      if (!found.entry) throw notFound(resource.name, name);
      const object = objectIn(found.entry, served);
      checkPreconditions(resource, name, object, options);
      admitDeletion(deps, context, object, options.dryRun);
      const deleted = await removeOrMark(deps, context, options, { ...found, entry: found.entry }, verb);
      if (deleted) return deleted;
      if (attempt === MAX_ATTEMPTS) throw conflict(resource.name, name, CHANGED_MEANWHILE);
    }
  });
}

async function removeOrMark(deps: WriteDependencies, { cluster, served }: RequestContext, options: DeletionOptions, found: Found & { entry: CachedEntry }, verb: WriteCause["verb"]): Promise<Deleted | undefined> {
  const { resource } = served;
  const { storage } = resource;
  const cause: WriteCause = { verb, name: resource.name };
  const marked = markedForDeletion(objectIn(found.entry, storage), resource, options, deps.clock.now());
  if (marked === "gone") {
    if (options.dryRun) return { entry: found.entry, gone: true };
    const revision = await deps.store.remove(cluster, resource, found, cause);
    return revision === undefined ? undefined : { entry: found.entry, gone: true };
  }
  if (marked === "marked already" || options.dryRun) return { entry: found.entry, gone: false };
  const entry = await deps.store.put(cluster, found, viewOfWritten(storage, marked, settledIn(found.entry, storage) !== undefined), cause);
  if (entry && isDefinition(resource)) deps.clusters.refresh(cluster);
  return entry && { entry, gone: false };
}

/** The object with the mark of deletion, in its storage version; or that there is nothing to wait for; or that nothing changes. */
function markedForDeletion(object: JsonObject, resource: Resource, options: DeletionOptions, nowMs: number): JsonObject | "gone" | "marked already" {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  const finalizers = finalizersFor(metadata, resource, options);
  const isPod = resource.kind.group === "" && resource.kind.kind === "Pod";
  const grace = isPod ? graceSecondsOf(object, options.graceSeconds) : 0;
  const waits = finalizers.length > 0 || grace > 0 || isNamespaceKind(resource);
  if (!waits) return "gone";
  const already = metadata.deletionTimestamp;
  const before = Number(metadata.deletionGracePeriodSeconds ?? 0);
  // The end is never moved back, only forward.
  if (already !== undefined && grace >= before && finalizers.length === finalizersOf(metadata).length) return "marked already";
  const shortened = already === undefined || grace < before;
  const marked: JsonObject = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: shortened ? formatTime(nowMs + grace * 1000) : already,
      deletionGracePeriodSeconds: shortened ? grace : before,
      ...(already === undefined && resource.kind.hasGeneration && { generation: Number(metadata.generation ?? 0) + 1 }),
      ...(finalizers.length > 0 && { finalizers }),
    },
  };
  if (isNamespaceKind(resource)) marked.status = { ...(isObject(object.status) ? object.status : {}), phase: "Terminating" };
  if (isDefinition(resource)) markTerminating(marked, formatTime(nowMs));
  return ordered(marked);
}

/** The finalizers that carry out how dependents are treated. An explicit policy replaces what was chosen before. */
function finalizersFor(metadata: JsonObject, resource: Resource, { propagation }: DeletionOptions): string[] {
  const before = finalizersOf(metadata);
  const own = isDefinition(resource) && !before.includes(CRD_FINALIZER) ? [CRD_FINALIZER] : [];
  if (propagation === undefined) return [...before, ...own];
  const others = before.filter((finalizer) => finalizer !== FOREGROUND_FINALIZER && finalizer !== ORPHAN_FINALIZER);
  const chosen = propagation === "Foreground" ? [FOREGROUND_FINALIZER] : propagation === "Orphan" ? [ORPHAN_FINALIZER] : [];
  return [...others, ...own, ...chosen];
}

function checkPreconditions({ name: resource }: Resource, name: string, object: JsonObject, { preconditions }: DeletionOptions): void {
  const { uid, resourceVersion } = metadataOf(object);
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(resource, name, `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${textOf(uid)}`);
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(resource, name, `Precondition failed: ResourceVersion in precondition: ${preconditions.resourceVersion}, ResourceVersion in object meta: ${textOf(resourceVersion)}`);
  }
}

/** Kinds whose deletion answers with the object even when it is gone. */
const ANSWERED_WITH_OBJECT = new Set("Namespace Pod Service ServiceAccount PersistentVolume PersistentVolumeClaim PodTemplate ResourceQuota StorageClass VolumeAttachment CSIDriver CSINode ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass".split(" "));

export function answersWithObject({ kind }: Resource): boolean {
  return kind.builtIn && ANSWERED_WITH_OBJECT.has(kind.kind);
}

/** The answer to a deletion that is done. */
export function deletedStatus({ name: { group, resource } }: Resource, object: JsonObject): Omit<Status, "code"> {
  const { name, uid } = metadataOf(object);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: textOf(name), ...(group && { group }), kind: resource, ...(typeof uid === "string" && { uid }) },
  };
}

/** Deletes what a list selects, each as if it were deleted alone. Answers with the list. */
export async function deleteCollection(deps: WriteDependencies, context: RequestContext, options: DeletionOptions): Promise<ListResult> {
  const result = await listObjects(deps, context);
  for (const entry of result.entries) {
    const metadata = metadataOf(objectIn(entry, context.served));
    const item: RequestContext = { ...context, name: textOf(metadata.name), ...(typeof metadata.namespace === "string" && { namespace: metadata.namespace }) };
    try {
      await deleteObject(deps, item, { ...options, preconditions: { ...options.preconditions, ...(typeof metadata.uid === "string" && { uid: metadata.uid }) } }, "deletecollection");
    } catch (error) {
      // Gone or replaced by another meanwhile: it is not what was listed.
      if (!isGone(error)) throw error;
    }
  }
  return result;
}

function isGone(error: unknown): boolean {
  const reason = (error as { code?: string }).code;
  return reason === "NotFound" || reason === "Conflict";
}
