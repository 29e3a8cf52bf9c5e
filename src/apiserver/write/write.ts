/**
 * Creates and updates. An object passes through: identity, system metadata, admission, field managers, conversion to
 * the storage version, one compare-and-set. An update that changes nothing writes nothing.
 */
import { equalJson, isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import {
  CONFLICT_MESSAGE,
  DecodeError,
  alreadyExists,
  conflict,
  copySharing,
  field,
  forbidden,
  generatedNameTaken,
  invalid,
  notFound,
  pathNotFound,
} from "../../machinery/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { Cache, CachedEntry, Guard } from "../../store/index.ts";
import { admitObject, reserve } from "./admit.ts";
import type { AdmitDependencies } from "./admit.ts";
import { accessDenied } from "../request/authorize.ts";
import type { AccessRequest } from "../request/authorize.ts";
import { MAX_ATTEMPTS } from "../clusters/attempts.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import { plainError } from "../context.ts";
import type { RequestContext } from "../context.ts";
import { CRD_GROUP, CRD_PLURAL, isDefinition } from "../crd/crd.ts";
import type { Definition } from "../crd/crd.ts";
import type { DefinitionStatus } from "../crd/crd-status.ts";
import type { DecodedObject } from "./decode.ts";
import type { Findings } from "./field-validation.ts";
import { checkIdentity } from "./identity.ts";
import { trackFields } from "./managed-fields.ts";
import {
  finalizersOf,
  generatedName,
  metadataForCreate,
  metadataForUpdate,
  metadataOf,
  validateMetadataUpdate,
} from "./metadata.ts";
import { isNamespaceKind } from "../background/namespaces.ts";
import type { Found } from "../clusters/objects.ts";
import { writeOptions } from "../request/options.ts";
import type { WriteOptions } from "../request/options.ts";
import { isOfLayer } from "../clusters/layer.ts";
import { encodeObject, objectIn, ordered, settledIn, viewOfWritten } from "../read/render.ts";
import type { WrittenView } from "../read/render.ts";
import { keyOf, partOf } from "../clusters/resources.ts";
import type { Resource, ServedVersion } from "../clusters/resources.ts";
import { changesNothing } from "./unchanged.ts";
import { textOf } from "../request/text.ts";
import type { WriteCause } from "./writes.ts";

export interface WriteDependencies extends AdmitDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
  definitions: DefinitionStatus;
}

export interface Written {
  entry: CachedEntry;
  created: boolean;
}

const MAX_GENERATED_NAMES = 8;
/** Only few objects are remembered as siblings, but they must not be huge. */
const MAX_SIBLING_BYTES = 64 * 1024;

export async function createObject(
  deps: WriteDependencies,
  context: RequestContext,
  body: DecodedObject,
): Promise<Written> {
  const options = writeOptions(context, "CreateOptions");
  const metadata = metadataOf(body.object);
  checkIdentity(context, body.object, undefined);
  const { resourceVersion } = metadata;
  if (typeof resourceVersion === "string" && /^[1-9]\d*$/.test(resourceVersion))
    throw plainError("resourceVersion should not be set on objects to be created");
  for (let attempt = 1; ; attempt++) {
    const generated = generatedName(metadata, deps.random);
    const name = generated ?? (typeof metadata.name === "string" ? metadata.name : "");
    const entry = await insertObject(deps, context, options, body, name);
    if (entry) return { entry, created: true };
    if (generated === undefined || attempt === MAX_GENERATED_NAMES)
      throw (metadata.generateName ? generatedNameTaken : alreadyExists)(context.served.resource.name, name);
  }
}

/**
 * Creates an object; undefined when the name exists. The object is admitted again when what its admission relied on has
 * changed: its namespace, its CRD or its cluster.
 */
export async function insertObject(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  body: DecodedObject,
  name: string,
  cause: WriteCause["verb"] = "create",
  appliedFields?: Json,
): Promise<CachedEntry | undefined> {
  let current = context;
  for (let attempt = 1; ; attempt++) {
    const { cluster, served, namespace } = current;
    const { resource } = served;
    const { object, guards } = admitNew(deps, current, options, body, name, cause, appliedFields);
    const found = deps.store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
    if (found.entry) return undefined;
    const entry = await storeObject(deps, current, options, { ...found, guards }, object, cause, true);
    if (entry) {
      if (options.dryRun) return entry;
      if (entry.value.byteLength <= MAX_SIBLING_BYTES) deps.siblings.remember(current, object);
      await settleDefinitions(deps, current, object);
      return entry;
    }
    if (attempt === MAX_ATTEMPTS) throw conflict(resource.name, name, UNSETTLED_MESSAGE);
    current = renewedContext(deps, current);
  }
}

const UNSETTLED_MESSAGE = "the namespace, the definition or the cluster of the object keeps changing; please try again";

/** The context of the next attempt: the CRD may have been replaced by one with another schema. */
function renewedContext({ clusters }: WriteDependencies, context: RequestContext): RequestContext {
  const { cluster, served, byController } = context;
  const { kind, name } = served.resource;
  if (kind.builtIn) return context;
  clusters.refresh(cluster);
  const renewed = byController
    ? cluster.table.findStored(name.group, served.version, name.resource)
    : cluster.table.find(name.group, served.version, name.resource);
  if (!renewed) throw pathNotFound();
  return renewed === served ? context : { ...context, served: renewed };
}

/** The object to store, and the objects that its admission relied on. */
function admitNew(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  body: DecodedObject,
  name: string,
  cause: WriteCause["verb"],
  appliedFields: Json | undefined,
): { object: JsonObject; guards: Guard[] } {
  const { served, namespace } = context;
  const { resource } = served;
  const given = metadataOf(body.object);
  let object = ordered({
    ...body.object,
    apiVersion: served.apiVersion,
    kind: resource.kind.kind,
    metadata: metadataForCreate(
      given,
      { namespace: resource.namespaced ? namespace : undefined, name },
      resource,
      deps,
    ),
  });
  if (served.subresources.status && !resource.kind.traits?.statusOnCreate) delete object.status;
  const track = (admitted: JsonObject): JsonObject =>
    appliedFields === undefined
      ? trackFields(context, deps.clock, options.fieldManager, undefined, admitted, given.managedFields)
      : withManagers(admitted, appliedFields);
  object = withoutRepeatedOwners(object, context, cause === "patch");
  const guards: Guard[] = [];
  // Read before admission, which uses its schema.
  const definition = readDefinition(deps, context, name);
  object = admitObject(deps, {
    context,
    options,
    operation: "CREATE",
    object,
    findings: body,
    errors: [],
    guards,
    track,
  });
  if (definition.problem) throw definition.problem;
  if (definition.guard) guards.push(definition.guard);
  return { object, guards };
}

/** A CRD is served immediately: a client may use it once its write is answered. */
async function settleDefinitions(
  { definitions }: WriteDependencies,
  { cluster, served, subresource }: RequestContext,
  definition: JsonObject,
): Promise<void> {
  if (subresource !== undefined || !isDefinition(served.resource)) return;
  await definitions.settle(cluster, (definition as unknown as Definition).spec.group);
}

/**
 * Stores a prepared object in the storage version; undefined when another write came first. `settled`: the object has
 * passed all checks, now or before.
 */
async function storeObject(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  found: Found,
  object: JsonObject,
  verb: WriteCause["verb"],
  settled: boolean,
): Promise<CachedEntry | undefined> {
  const { cluster, served, subresource } = context;
  const { storage, name } = served.resource;
  const written = viewOfWritten(storage, toStorage(object, served), settled && served.isStorage);
  if (options.dryRun) return unstoredEntry(found, written);
  const oldObject = found.entry && objectIn(found.entry, served);
  const giveBack = await reserve(deps, {
    context,
    options,
    operation: oldObject ? "UPDATE" : "CREATE",
    object,
    oldObject,
  });
  let entry: CachedEntry | undefined;
  try {
    entry = await deps.store.put(cluster, found, written, { verb, name, subresource });
  } finally {
    if (!entry) await giveBack();
  }
  if (entry && isDefinition(served.resource)) deps.clusters.refresh(cluster);
  return entry;
}

/** The response to a dry run: the resulting object, at the revision of the stored one. */
export function unstoredEntry({ key, entry }: Found, { object, view }: WrittenView): CachedEntry {
  return { key, revision: entry?.revision ?? 0, value: encodeObject(object), memo: view };
}

function toStorage(object: JsonObject, served: ServedVersion): JsonObject {
  if (served.isStorage) return object;
  const { storage } = served.resource;
  return storage.compiled.admit(ordered({ ...(served.toStorage?.(object) ?? object), apiVersion: storage.apiVersion }));
}

export async function updateObject(
  deps: WriteDependencies,
  context: RequestContext,
  body: DecodedObject,
): Promise<Written> {
  const options = writeOptions(context, "UpdateOptions");
  const { cluster, served, namespace, name = "", subresource } = context;
  const { resource } = served;
  const { entry: stored } = deps.store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
  checkIdentity(context, body.object, name, stored && metadataOf(objectIn(stored, served)));
  if (!stored) {
    if (subresource !== undefined || !resource.kind.traits?.createOnUpdate) throw missing(deps, context, options, body);
    const entry = await createInPlace(deps, context, options, body);
    if (entry) return { entry, created: true };
  }
  return rewriteObject(deps, context, options, "update", (old) => {
    const { uid } = metadataOf(body.object);
    const { uid: storedUid } = metadataOf(old);
    if (typeof uid === "string" && uid !== "" && uid !== storedUid) throw uidConflict(context, uid, storedUid);
    const object = body.sharesWith === old ? body.object : (copySharing(body.object, old) as JsonObject);
    return { ...body, object, requiresVersion: true };
  });
}

/** The error for an update of a missing object. An undecodable body is reported first. */
function missing(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  { object, ...findings }: DecodedObject,
): Error {
  const { served, name = "" } = context;
  const error = notFound(served.resource.name, name);
  const read = ordered({
    ...object,
    apiVersion: served.apiVersion,
    kind: served.resource.kind.kind,
    metadata: { ...metadataOf(object) },
  });
  const track = (): never => {
    throw error;
  };
  admitObject(deps, { context, options, operation: "CREATE", object: read, findings, errors: [], guards: [], track });
  return error;
}

/** A PUT of a missing object; undefined when another client created it first. */
async function createInPlace(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  body: DecodedObject,
): Promise<CachedEntry | undefined> {
  const { served, name = "" } = context;
  const { uid } = metadataOf(body.object);
  if (typeof uid === "string" && uid !== "") throw uidConflict(context, uid, "");
  checkMayCreate(deps, context);
  const entry = await insertObject(deps, context, options, body, name, "update");
  if (!entry && options.dryRun) throw alreadyExists(served.resource.name, name);
  return entry;
}

/** Creating an object through update or apply requires the verb create. */
export function checkMayCreate(
  { authorizer }: WriteDependencies,
  { cluster, served, namespace, name, user }: RequestContext,
): void {
  const request: AccessRequest = {
    user,
    verb: "create",
    cluster: cluster.name,
    resource: { ...served.resource.name, namespace, name },
  };
  const { allowed, reason } = authorizer.decide(request);
  if (!allowed) throw accessDenied(request, reason);
}

/** The object that an update is to store, computed from the stored one. */
export interface Change extends Findings {
  object: JsonObject;
  /** Replaces the whole object: some kinds then require a resourceVersion. */
  requiresVersion: boolean;
  /** Set for the result of a patch: creates the error when the result is not a valid object of the kind. */
  failure?: (problem: string) => Error;
  /** Managed fields computed by apply; unset records an ordinary update. */
  appliedFields?: Json;
}

/**
 * Reads, changes and writes one object exclusively. Retries when another process wrote first, unless the client
 * specified a resourceVersion.
 */
export async function rewriteObject(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  verb: "update" | "patch",
  change: (old: JsonObject) => Change,
): Promise<Written> {
  const { cluster, served, namespace, name = "" } = context;
  const key = keyOf(served.resource, cluster.name, namespace, name);
  const written = await deps.cache.exclusive(key, async (): Promise<Written> => {
    for (let attempt = 1; ; attempt++) {
      const found = deps.store.find(cluster, served.resource, key);
      if (!found.entry) throw notFound(served.resource.name, name);
      const old = objectIn(found.entry, served);
      const settled = settledIn(found.entry, served);
      const wanted = change(old);
      const insists = checkVersion(context, wanted, found.entry);
      const next = wanted.failure
        ? preparePatched(deps, context, options, old, settled, wanted, wanted.failure)
        : prepareUpdate(deps, context, options, old, settled, wanted);
      if (changesNothing(old, next)) return { entry: found.entry, created: false };
      const entry = isFinished(next, served)
        ? await removeFinished(deps, context, options, found, next)
        : await storeObject(
            deps,
            context,
            options,
            found,
            next,
            verb,
            settled !== undefined || context.subresource === undefined,
          );
      if (entry) return { entry, created: false };
      if (insists || attempt === MAX_ATTEMPTS) throw conflict(served.resource.name, name, CONFLICT_MESSAGE);
    }
  });
  // Not while the object is locked: its status may have to change. A removed CRD has released its names.
  if (!options.dryRun && isDefinition(served.resource))
    await settleDefinitions(deps, context, objectIn(written.entry, served));
  return written;
}

/** A patch whose result cannot be decoded is invalid, where the same object in a PUT would be a bad request. */
function preparePatched(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  old: JsonObject,
  settled: JsonObject | undefined,
  change: Change,
  failure: (problem: string) => Error,
): JsonObject {
  try {
    return prepareUpdate(deps, context, options, old, settled, change);
  } catch (error) {
    throw error instanceof DecodeError ? failure(error.problem) : error;
  }
}

function prepareUpdate(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  old: JsonObject,
  settled: JsonObject | undefined,
  change: Change,
): JsonObject {
  const { object: given, appliedFields } = change;
  const { served, subresource } = context;
  const { kind } = served.resource;
  const givenMetadata = metadataOf(given);
  const stored = metadataOf(old);
  let next = combine(context, old, given, metadataForUpdate(givenMetadata, stored));
  next = ordered({ ...next, apiVersion: served.apiVersion, kind: kind.kind });
  next = withoutRepeatedOwners(next, context, change.failure !== undefined || appliedFields !== undefined);
  const errors = subresource === undefined ? validateMetadataUpdate(givenMetadata, stored) : [];
  const track = (admitted: JsonObject): JsonObject =>
    appliedFields === undefined
      ? trackFields(context, deps.clock, options.fieldManager, old, admitted, givenMetadata.managedFields)
      : withManagers(admitted, appliedFields);
  next = admitObject(deps, {
    context,
    options,
    operation: "UPDATE",
    object: next,
    oldObject: old,
    settled,
    findings: change,
    errors,
    guards: [],
    track,
  });
  if (
    kind.hasGeneration &&
    (changesSpec(old, next, served.subresources.status === true) ||
      changesRollout(context, old, next) ||
      changesCountedLabels(context, old, next))
  )
    metadataOf(next).generation = Number(stored.generation ?? 0) + 1;
  return next;
}

/** An owner that is listed twice counts once. Upstream checks patches later, and the warning mentions that. */
function withoutRepeatedOwners(object: JsonObject, { warn }: RequestContext, isPatched: boolean): JsonObject {
  const metadata = metadataOf(object);
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return object;
  const seen = new Set<string>();
  const kept: Json[] = [];
  const repeated: string[] = [];
  for (const owner of owners) {
    if (seen.size < seen.add(identityOf(owner)).size) kept.push(owner);
    else repeated.push(isObject(owner) ? textOf(owner.uid) : "");
  }
  if (repeated.length === 0) return object;
  const when = isPatched ? " after mutating admission happens" : "";
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`,
  );
  return { ...object, metadata: { ...metadata, ownerReferences: kept } };
}

/** The same string for the same owner, whatever the order of its fields. */
const identityOf = (owner: Json): string =>
  JSON.stringify(isObject(owner) ? Object.entries(owner).sort(([a], [b]) => (a < b ? -1 : 1)) : owner);

/** The object with these managed fields; an empty list removes them. */
function withManagers(object: JsonObject, managedFields: Json): JsonObject {
  const { managedFields: _, ...metadata } = metadataOf(object);
  return {
    ...object,
    metadata: { ...metadata, ...(Array.isArray(managedFields) && managedFields.length > 0 && { managedFields }) },
  };
}

/**
 * The part of the object that a request may change: everything but the status, only the status, only the finalizers, or
 * the part that the kind names, which is extracted later.
 */
function combine(
  { served, subresource }: RequestContext,
  old: JsonObject,
  given: JsonObject,
  metadata: JsonObject,
): JsonObject {
  const { resource } = served;
  if (subresource === "status") {
    const { status: _, ...rest } = old;
    const { resourceVersion: __, ...stored } = metadataOf(old);
    return {
      ...rest,
      metadata: resource.kind.builtIn && !isDefinition(resource) ? statusMetadata(resource, metadata, old) : stored,
      ...(given.status !== undefined && { status: given.status }),
    };
  }
  if (subresource === "finalize") {
    const finalizers = isObject(given.spec) ? given.spec.finalizers : undefined;
    return { ...old, metadata, spec: { ...(isObject(old.spec) ? old.spec : {}), finalizers: finalizers ?? [] } };
  }
  // The writer of a part owns the fields that it sent, although the rest is dropped.
  if (!served.subresources.status || partOf(served, subresource)) return { ...given, metadata };
  const { status: _, ...rest } = given;
  return { ...rest, metadata, ...(old.status !== undefined && { status: old.status }) };
}

/** Metadata that writers of status may not change. Most kinds allow them to change all metadata. */
const KEPT_BY_STATUS: Readonly<Record<string, string>> = { "apps/Deployment": "labels", "/Pod": "ownerReferences" };

function statusMetadata({ kind }: Resource, metadata: JsonObject, old: JsonObject): JsonObject {
  if (kind.traits?.statusKeepsMetadata) {
    const { resourceVersion: _, ...stored } = metadataOf(old);
    return stored;
  }
  const path = KEPT_BY_STATUS[`${kind.group}/${kind.kind}`];
  if (path === undefined) return metadata;
  const { [path]: _, ...rest } = metadata;
  const stored = metadataOf(old)[path];
  return { ...rest, ...(stored !== undefined && { [path]: stored }) };
}

/** Anything outside metadata, and outside status where that has its own subresource. */
function changesSpec(old: JsonObject, next: JsonObject, ignoreStatus: boolean): boolean {
  const ignored = (key: string): boolean =>
    key === "metadata" || key === "apiVersion" || key === "kind" || (ignoreStatus && key === "status");
  if (Object.keys(next).some((key) => !ignored(key) && !equalJson(next[key], old[key]))) return true;
  return Object.keys(old).some((key) => !ignored(key) && next[key] === undefined);
}

/** Some kinds are identified by their labels, which then count as part of the desired state. */
function changesCountedLabels(
  { served: { resource }, subresource }: RequestContext,
  old: JsonObject,
  next: JsonObject,
): boolean {
  return (
    subresource === undefined &&
    resource.kind.traits?.labelsCountAsSpec === true &&
    !equalJson(metadataOf(old).labels, metadataOf(next).labels)
  );
}

/** Annotations of a Deployment are copied to its ReplicaSets, so they count as part of the desired state. */
function changesRollout(
  { served: { resource }, subresource }: RequestContext,
  old: JsonObject,
  next: JsonObject,
): boolean {
  return (
    subresource === undefined &&
    resource.kind.kind === "Deployment" &&
    resource.kind.group === "apps" &&
    !equalJson(metadataOf(old).annotations, metadataOf(next).annotations)
  );
}

/** An object that is being deleted is removed with its last finalizer, unless a kubelet has to stop it first. */
function isFinished(object: JsonObject, { resource }: ServedVersion): boolean {
  const metadata = metadataOf(object);
  if (
    metadata.deletionTimestamp === undefined ||
    finalizersOf(metadata).length > 0 ||
    Number(metadata.deletionGracePeriodSeconds ?? 0) > 0
  )
    return false;
  return (
    !isNamespaceKind(resource) ||
    !isObject(object.spec) ||
    !Array.isArray(object.spec.finalizers) ||
    object.spec.finalizers.length === 0
  );
}

async function removeFinished(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  found: Found,
  object: JsonObject,
): Promise<CachedEntry | undefined> {
  const { cluster, served } = context;
  const last = unstoredEntry(found, viewOfWritten(served.resource.storage, toStorage(object, served), false));
  if (options.dryRun) return last;
  const revision = await deps.store.remove(cluster, served.resource, found, {
    verb: "delete",
    name: served.resource.name,
  });
  if (revision !== undefined && isDefinition(served.resource)) deps.clusters.refresh(cluster);
  return revision === undefined ? undefined : last;
}

/** Checks the resourceVersion that the client sent, if any. True when the client specified one. */
function checkVersion(
  { served: { resource }, name = "" }: RequestContext,
  { object, requiresVersion }: Change,
  entry: CachedEntry,
): boolean {
  const sent = metadataOf(object).resourceVersion;
  const text = typeof sent === "string" ? sent : "";
  if (text === "" || text === "0") {
    if (requiresVersion && (!resource.kind.builtIn || resource.kind.traits?.requiresVersion)) {
      const error: FieldError = field.invalid("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(resource.name.group, resource.name.resource, name, [error]);
    }
    return false;
  }
  if (!/^\d+$/.test(text)) throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (Number(text) !== entry.revision) throw conflict(resource.name, name, CONFLICT_MESSAGE);
  return true;
}

export function uidConflict(
  { served: { resource }, namespace, name = "" }: RequestContext,
  sent: string,
  stored: unknown,
): Error {
  const path = [
    resource.kind.builtIn ? "" : `${resource.name.group}/`,
    resource.name.resource,
    resource.namespaced ? `/${namespace ?? ""}` : "",
  ].join("");
  return conflict(
    resource.name,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${path}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${String(stored)}`,
  );
}

/**
 * The CRD of a new object: the guard that keeps it as it was read until the object is stored, or the error when it is
 * being deleted or has been deleted.
 */
function readDefinition(
  { store }: WriteDependencies,
  { cluster, served: { resource } }: RequestContext,
  name: string,
): { guard?: Guard; problem?: Error } {
  const definitions = resource.kind.builtIn ? undefined : cluster.table.resource(CRD_GROUP, CRD_PLURAL);
  if (!definitions) return {};
  const definitionName = `${resource.name.resource}.${resource.name.group}`;
  const found = store.find(cluster, definitions, keyOf(definitions, cluster.name, undefined, definitionName));
  const { key, entry, expect } = found;
  // The CRD was deleted while the request waited its turn.
  if (!entry) return { problem: pathNotFound() };
  if (isOfLayer(entry, cluster) || metadataOf(objectIn(entry, definitions.storage)).deletionTimestamp === undefined)
    return { guard: { key, expect } };
  return {
    problem: forbidden(resource.name, name, "create not allowed while custom resource definition is terminating"),
  };
}
