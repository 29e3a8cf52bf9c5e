/**
 * Creates and updates. One object goes through: identity, system metadata, admission, field managers, conversion to the
 * storage version, one compare-and-set. An update that changes nothing writes nothing.
 */
import { equalJson, isObject } from "../base/index.ts";
import type { Clock, Json, JsonObject } from "../base/index.ts";
import { ApiError, CHANGED_MEANWHILE, alreadyExists, badRequest, conflict, copySharing, forbidden, invalid, notFound } from "../machinery/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Cache, CachedEntry } from "../store/index.ts";
import { admitObject, reserve } from "./admit.ts";
import type { AdmitDependencies } from "./admit.ts";
import type { ClusterRegistry } from "./clusters.ts";
import { invalidValue, plainError } from "./context.ts";
import type { RequestContext } from "./context.ts";
import { CRD_GROUP, CRD_PLURAL, isDefinition } from "./crd.ts";
import type { DecodedObject } from "./decode.ts";
import { trackFields } from "./managed-fields.ts";
import { finalizersOf, generatedName, metadataForCreate, metadataForUpdate, metadataOf, validateMetadataUpdate } from "./metadata.ts";
import { checkNamespace, isNamespaceKind } from "./namespaces.ts";
import type { Found } from "./objects.ts";
import { writeOptions } from "./options.ts";
import type { WriteOptions } from "./options.ts";
import { isOfLayer } from "./layer.ts";
import { encodeObject, objectIn, ordered, settledIn, viewOfWritten } from "./render.ts";
import type { WrittenView } from "./render.ts";
import { keyOf } from "./resources.ts";
import type { ServedVersion } from "./resources.ts";
import type { WriteCause } from "./writes.ts";
import { textOf } from "./text.ts";

export interface WriteDependencies extends AdmitDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
  clock: Clock;
}

export interface Written {
  entry: CachedEntry;
  created: boolean;
}

/** How often a write that lost a race is done again on the fresh object. */
const MAX_ATTEMPTS = 5;
const MAX_GENERATED_NAMES = 8;

export async function createObject(deps: WriteDependencies, context: RequestContext, body: DecodedObject): Promise<Written> {
  const options = writeOptions(context, "CreateOptions");
  const metadata = metadataOf(body.object);
  checkIdentity(context, body.object, undefined);
  const { resourceVersion } = metadata;
  if (typeof resourceVersion === "string" && /^[1-9]\d*$/.test(resourceVersion)) throw plainError("resourceVersion should not be set on objects to be created");
  for (let attempt = 1; ; attempt++) {
    const generated = generatedName(metadata, deps.random);
    const name = generated ?? (typeof metadata.name === "string" ? metadata.name : "");
    const entry = await insertObject(deps, context, options, body, name);
    if (entry) return { entry, created: true };
    if (generated === undefined || attempt === MAX_GENERATED_NAMES) throw alreadyExists(context.served.resource.name, name);
  }
}

/** A new object under a name; undefined when the name is taken. */
export async function insertObject(deps: WriteDependencies, context: RequestContext, options: WriteOptions, body: DecodedObject, name: string, cause: WriteCause["verb"] = "create", appliedFields?: Json): Promise<CachedEntry | undefined> {
  const { cluster, served, namespace } = context;
  const { resource } = served;
  const given = metadataOf(body.object);
  let object = ordered({
    ...body.object,
    apiVersion: served.apiVersion,
    kind: resource.kind.kind,
    metadata: metadataForCreate(given, { namespace: resource.namespaced ? namespace : undefined, name }, resource, deps),
  });
  if (resource.kind.subresources.status) delete object.status;
  const track = (admitted: JsonObject): JsonObject =>
    appliedFields === undefined ? trackFields(context, deps.clock, options.fieldManager, undefined, admitted, given.managedFields) : withManagers(admitted, appliedFields);
  object = admitObject(deps, { context, options, operation: "CREATE", object, duplicates: body.duplicates, errors: [], track });

  if (resource.namespaced && namespace !== undefined) checkNamespace(deps.store, cluster, resource, namespace, name);
  checkDefinitionAlive(deps, context, name);
  const found = deps.store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
  if (found.entry) return undefined;
  return storeObject(deps, context, options, found, object, cause, true);
}

/** Puts a prepared object, converted to the storage version; undefined when somebody was faster. `settled`: all of its rules were looked at, now or before. */
async function storeObject(deps: WriteDependencies, context: RequestContext, options: WriteOptions, found: Found, object: JsonObject, verb: WriteCause["verb"], settled: boolean): Promise<CachedEntry | undefined> {
  const { cluster, served, subresource } = context;
  const { storage, name } = served.resource;
  const written = viewOfWritten(storage, toStorage(object, served), settled && served.isStorage);
  if (options.dryRun) return unstoredEntry(found, written);
  const oldObject = found.entry && objectIn(found.entry, served);
  const giveBack = await reserve(deps, { context, options, operation: oldObject ? "UPDATE" : "CREATE", object, ...(oldObject && { oldObject }) });
  const entry = await deps.store.put(cluster, found, written, { verb, name, ...(subresource !== undefined && { subresource }) });
  if (!entry) await giveBack();
  // A definition is served at once: whoever waits for this answer may use it.
  if (entry && isDefinition(served.resource)) deps.clusters.refresh(cluster);
  return entry;
}

/** The answer to a dry run: what would be there, at the revision of what is. */
function unstoredEntry({ key, entry }: Found, { object, view }: WrittenView): CachedEntry {
  return { key, revision: entry?.revision ?? 0, value: encodeObject(object), memo: view };
}

function toStorage(object: JsonObject, served: ServedVersion): JsonObject {
  if (served.isStorage) return object;
  const { storage } = served.resource;
  return storage.compiled.admit(ordered({ ...(served.toStorage?.(object) ?? object), apiVersion: storage.apiVersion }));
}

export async function updateObject(deps: WriteDependencies, context: RequestContext, body: DecodedObject): Promise<Written> {
  const options = writeOptions(context, "UpdateOptions");
  const name = context.name ?? "";
  checkIdentity(context, body.object, name);
  return rewriteObject(deps, context, options, "update", (old) => {
    const { uid } = metadataOf(body.object);
    const { uid: storedUid } = metadataOf(old);
    if (typeof uid === "string" && uid !== "" && uid !== storedUid) throw uidConflict(context, uid, storedUid);
    return { object: copySharing(body.object, old) as JsonObject, duplicates: body.duplicates, requiresVersion: true };
  });
}

/** What an update wants to store, worked out from what is stored. */
export interface Change {
  object: JsonObject;
  duplicates: readonly string[];
  /** A replacement of the whole: some kinds then insist on a resourceVersion. */
  requiresVersion: boolean;
  /** The result of a patch: what is wrong with its form is the patch's fault. */
  isPatch?: boolean;
  /** Field managers as apply worked them out; unset records an ordinary update. */
  appliedFields?: Json;
}

/** Reads, changes and writes one object, with nobody in between; again when another process was faster and the client did not insist. */
export async function rewriteObject(deps: WriteDependencies, context: RequestContext, options: WriteOptions, verb: "update" | "patch", change: (old: JsonObject) => Change): Promise<Written> {
  const { cluster, served, namespace, name = "" } = context;
  const key = keyOf(served.resource, cluster.name, namespace, name);
  return deps.cache.exclusive(key, async () => {
    for (let attempt = 1; ; attempt++) {
      const found = deps.store.find(cluster, served.resource, key);
      if (!found.entry) throw notFound(served.resource.name, name);
      const old = objectIn(found.entry, served);
      const settled = settledIn(found.entry, served);
      const wanted = change(old);
      const insists = checkVersion(context, wanted, found.entry);
      const prepare = (): JsonObject => prepareUpdate(deps, context, options, old, settled, wanted);
      const next = wanted.isPatch ? explainPatch(prepare) : prepare();
      if (equalJson(withoutVersion(old), next)) return { entry: found.entry, created: false };
      const entry = isFinished(next, served) ? await removeFinished(deps, context, options, found, next) : await storeObject(deps, context, options, found, next, verb, settled !== undefined || context.subresource === undefined);
      if (entry) return { entry, created: false };
      if (insists || attempt === MAX_ATTEMPTS) throw conflict(served.resource.name, name, CHANGED_MEANWHILE);
    }
  });
}

/** A patch whose result cannot be decoded is invalid, where the same object in a PUT would be a bad request. */
function explainPatch<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.code !== 400) throw error;
    throw invalid("", "", "", [{ type: "Invalid", field: "patch", message: `Invalid value: ${error.message}` }]);
  }
}

function prepareUpdate(deps: WriteDependencies, context: RequestContext, options: WriteOptions, old: JsonObject, settled: JsonObject | undefined, { object: given, duplicates, appliedFields }: Change): JsonObject {
  const { served, subresource } = context;
  const { kind } = served.resource;
  const givenMetadata = metadataOf(given);
  const stored = metadataOf(old);
  let next = combine(context, old, given, metadataForUpdate(givenMetadata, stored));
  next = ordered({ ...next, apiVersion: served.apiVersion, kind: kind.kind });
  const errors = subresource === undefined ? validateMetadataUpdate(givenMetadata, stored) : [];
  const track = (admitted: JsonObject): JsonObject =>
    appliedFields === undefined ? trackFields(context, deps.clock, options.fieldManager, old, admitted, givenMetadata.managedFields) : withManagers(admitted, appliedFields);
  next = admitObject(deps, { context, options, operation: "UPDATE", object: next, oldObject: old, settled, duplicates, errors, track });
  if (kind.hasGeneration && (changesSpec(old, next, kind.subresources.status === true) || changesRollout(context, old, next))) metadataOf(next).generation = Number(stored.generation ?? 0) + 1;
  return next;
}

function withManagers(object: JsonObject, managedFields: Json): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), managedFields } };
}

/** Which part of the object a request may change: everything but the status, only the status, or only the finalizers. */
function combine({ served: { resource }, subresource }: RequestContext, old: JsonObject, given: JsonObject, metadata: JsonObject): JsonObject {
  if (subresource === "status") {
    const { status: _, ...rest } = old;
    const { resourceVersion: __, ...stored } = metadataOf(old);
    return { ...rest, metadata: resource.kind.builtIn ? statusMetadata(metadata, old) : stored, ...(given.status !== undefined && { status: given.status }) };
  }
  if (subresource === "finalize") {
    const finalizers = isObject(given.spec) ? given.spec.finalizers : undefined;
    return { ...old, metadata, spec: { ...(isObject(old.spec) ? old.spec : {}), finalizers: finalizers ?? [] } };
  }
  if (!resource.kind.subresources.status) return { ...given, metadata };
  const { status: _, ...rest } = given;
  return { ...rest, metadata, ...(old.status !== undefined && { status: old.status }) };
}

/** Writers of status may annotate, but labels and finalizers steer others and are not theirs to change. */
function statusMetadata(metadata: JsonObject, old: JsonObject): JsonObject {
  const { labels: _l, finalizers: _f, ownerReferences: _o, ...rest } = metadata;
  const { labels, finalizers, ownerReferences } = metadataOf(old);
  return { ...rest, ...(labels !== undefined && { labels }), ...(finalizers !== undefined && { finalizers }), ...(ownerReferences !== undefined && { ownerReferences }) };
}

/** Anything outside metadata, and outside status where that has its own subresource. */
function changesSpec(old: JsonObject, next: JsonObject, ignoreStatus: boolean): boolean {
  const ignored = (key: string): boolean => key === "metadata" || key === "apiVersion" || key === "kind" || (ignoreStatus && key === "status");
  if (Object.keys(next).some((key) => !ignored(key) && !equalJson(next[key], old[key]))) return true;
  return Object.keys(old).some((key) => !ignored(key) && next[key] === undefined);
}

/** Annotations of a Deployment are copied to its ReplicaSets, so they count as part of what it wants. */
function changesRollout({ served: { resource }, subresource }: RequestContext, old: JsonObject, next: JsonObject): boolean {
  return subresource === undefined && resource.kind.kind === "Deployment" && resource.kind.group === "apps" && !equalJson(metadataOf(old).annotations, metadataOf(next).annotations);
}

function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

/** An object that is being deleted goes when its last finalizer is removed and nobody has to stop it first. */
function isFinished(object: JsonObject, { resource }: ServedVersion): boolean {
  const metadata = metadataOf(object);
  if (metadata.deletionTimestamp === undefined || finalizersOf(metadata).length > 0 || Number(metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return !isNamespaceKind(resource) || !isObject(object.spec) || !Array.isArray(object.spec.finalizers) || object.spec.finalizers.length === 0;
}

async function removeFinished(deps: WriteDependencies, context: RequestContext, options: WriteOptions, found: Found, object: JsonObject): Promise<CachedEntry | undefined> {
  const { cluster, served } = context;
  const last = unstoredEntry(found, viewOfWritten(served.resource.storage, toStorage(object, served), false));
  if (options.dryRun) return last;
  const revision = await deps.store.remove(cluster, served.resource, found, { verb: "delete", name: served.resource.name });
  if (revision !== undefined && isDefinition(served.resource)) deps.clusters.refresh(cluster);
  return revision === undefined ? undefined : last;
}

/** The kinds of Kubernetes that refuse a PUT without a resourceVersion; so do all custom ones. */
const STRICT_KINDS = new Set(
  "CustomResourceDefinition Pod PersistentVolumeClaim Job Lease PodDisruptionBudget RuntimeClass MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding APIService".split(" "),
);

/** Compares the resourceVersion that the client sent, if any. True when it insists on it. */
function checkVersion({ served: { resource }, name = "" }: RequestContext, { object, requiresVersion }: Change, entry: CachedEntry): boolean {
  const sent = metadataOf(object).resourceVersion;
  const text = typeof sent === "string" ? sent : "";
  if (text === "" || text === "0") {
    if (requiresVersion && (!resource.kind.builtIn || STRICT_KINDS.has(resource.kind.kind))) {
      const error: FieldError = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(resource.name.group, resource.name.resource, name, [error]);
    }
    return false;
  }
  if (!/^\d+$/.test(text)) throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (Number(text) !== entry.revision) throw conflict(resource.name, name, CHANGED_MEANWHILE);
  return true;
}

/** The body must be of the endpoint's kind and name; what it leaves out is filled in from the path. */
function checkIdentity({ served, namespace }: RequestContext, object: JsonObject, pathName: string | undefined): void {
  const { kind, namespaced } = { kind: served.resource.kind, namespaced: served.resource.namespaced };
  const metadata = metadataOf(object);
  const sentKind = object.kind ?? "";
  const sentVersion = object.apiVersion ?? "";
  if (sentVersion !== "" && sentVersion !== served.apiVersion) throw badRequest(`the API version in the data (${textOf(sentVersion)}) does not match the expected API version (${served.apiVersion})`);
  if (sentKind !== "" && sentKind !== kind.kind) {
    if (!kind.builtIn) throw invalid(kind.group, textOf(sentKind), textOf(metadata.name ?? ""), [invalidValue("kind", sentKind, `must be ${kind.kind}`)]);
    throw badRequest(`${textOf(sentKind)} in version ${JSON.stringify(served.version)} cannot be handled as a ${kind.kind}: the endpoint takes ${kind.kind} only`);
  }
  if (namespaced && typeof metadata.namespace === "string" && metadata.namespace !== "" && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (pathName === undefined) return;
  if (metadata.name === undefined || metadata.name === "") throw badRequest(`the name of the object (${pathName} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== pathName) throw badRequest(`the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${pathName})`);
}

function uidConflict({ served: { resource }, namespace, name = "" }: RequestContext, sent: string, stored: unknown): Error {
  const path = [resource.kind.builtIn ? "" : `${resource.name.group}/`, resource.name.resource, resource.namespaced ? `/${namespace ?? ""}` : ""].join("");
  return conflict(
    resource.name,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${path}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${String(stored)}`,
  );
}

/** Objects of a definition that is going away are not created any more. */
function checkDefinitionAlive({ store }: WriteDependencies, { cluster, served: { resource } }: RequestContext, name: string): void {
  if (resource.kind.builtIn) return;
  const definitions = cluster.table.resource(CRD_GROUP, CRD_PLURAL);
  if (!definitions) return;
  const { entry } = store.find(cluster, definitions, keyOf(definitions, cluster.name, undefined, `${resource.name.resource}.${resource.name.group}`));
  if (!entry || isOfLayer(entry, cluster)) return;
  if (metadataOf(objectIn(entry, definitions.storage)).deletionTimestamp !== undefined) {
    throw forbidden(resource.name, name, "create not allowed while custom resource definition is terminating");
  }
}
