/**
 * Updates: of whole objects, of subresources, and of what a patch makes of an object. An update passes through admission
 * as a create does, and is stored by compare-and-set. One that changes nothing writes nothing.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  field,
  CONFLICT_MESSAGE,
  DecodeError,
  alreadyExists,
  conflict,
  shareParts,
  invalid,
  notFound,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import { after, isPromise } from "../admission/run-steps.ts";
import { isNamespaceKind, keyOf } from "../resources/resources.ts";
import { MAX_ATTEMPTS } from "../clusters/attempts.ts";
import { unstoredEntry } from "../clusters/objects.ts";
import type { Found } from "../clusters/objects.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import { isDefinition } from "../resources/definition.ts";
import { objectIn, ordered, settledIn, viewOfWritten } from "../codec/render.ts";
import { writeOptions } from "../request/options.ts";
import { admitObject } from "./admit.ts";
import { insertObject } from "./create.ts";
import type { DecodedObject, Findings } from "../codec/decode.ts";
import { checkIdentity } from "./identity.ts";
import { trackFields } from "./managed-fields.ts";
import { metadataForUpdate, validateMetadataUpdate } from "./metadata.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import {
  checkMayCreate,
  settleDefinitions,
  storeObject,
  toStorage,
  uidConflict,
  withManagers,
  withoutRepeatedOwners,
} from "./store-object.ts";
import type { WriteDependencies, WriteRequest, Written } from "./store-object.ts";
import { changesNothing } from "./unchanged.ts";
import { checkUnwrittenParts, decodeSent } from "./unwritten-parts.ts";
import { combine, startsGeneration, statusWritesMetadata } from "./written-parts.ts";

export async function updateObject(
  deps: WriteDependencies,
  context: RequestContext,
  body: DecodedObject,
): Promise<Written> {
  const request: WriteRequest = { context, options: writeOptions(context, "UpdateOptions"), verb: "update" };
  const { cluster, served, namespace, name = "", subresource } = context;
  const { resource } = served;
  const { entry: stored } = deps.store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
  const preparing = deps.conversions.prepare(cluster, served, [stored], context.signal);
  if (preparing) await preparing;
  checkIdentity(context, body.object, name, stored && metadataOf(objectIn(stored, served)));
  if (!stored) {
    if (subresource !== undefined || !resource.kind.traits?.createOnUpdate) throw await missing(deps, request, body);
    const entry = await createInPlace(deps, request, body);
    if (entry) return { entry, created: true };
  }
  return rewriteObject(deps, request, (old) => {
    const { uid } = metadataOf(body.object);
    const { uid: storedUid } = metadataOf(old);
    if (typeof uid === "string" && uid !== "" && uid !== storedUid) throw uidConflict(context, uid, storedUid);
    const object = body.sharesWith === old ? body.object : (shareParts(body.object, old) as JsonObject);
    return { ...body, object, requiresVersion: true };
  });
}

/** The error for an update of a missing object. An undecodable body is reported first. */
async function missing(
  deps: WriteDependencies,
  { context, options }: WriteRequest,
  { object, ...findings }: DecodedObject,
): Promise<Error> {
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
  await admitObject(deps, {
    context,
    options,
    operation: "CREATE",
    object: read,
    findings,
    errors: [],
    guards: [],
    track,
  });
  return error;
}

/** A PUT of a missing object; undefined when another client created it first. */
async function createInPlace(
  deps: WriteDependencies,
  request: WriteRequest,
  body: DecodedObject,
): Promise<CachedEntry | undefined> {
  const { context, options } = request;
  const { served, name = "" } = context;
  const { uid } = metadataOf(body.object);
  if (typeof uid === "string" && uid !== "") throw uidConflict(context, uid, "");
  await checkMayCreate(deps, context);
  const entry = await insertObject(deps, { ...request, body, name });
  if (!entry && options.dryRun) throw alreadyExists(served.resource.name, name);
  return entry;
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
  request: WriteRequest,
  change: (old: JsonObject) => Change,
): Promise<Written> {
  const { context, options } = request;
  const { cluster, served, namespace, name = "" } = context;
  const key = keyOf(served.resource, cluster.name, namespace, name);
  const rewrite = async (): Promise<Written> => {
    for (let attempt = 1; ; attempt++) {
      const found = deps.store.find(cluster, served.resource, key);
      if (!found.entry) throw notFound(served.resource.name, name);
      const preparing = prepareStored(deps, context, found.entry);
      if (preparing) await preparing;
      const old = objectIn(found.entry, served);
      const settled = settledIn(found.entry, served);
      const wanting = deps.conversions.settle(context, () => change(old));
      const wanted = isPromise(wanting) ? await wanting : wanting;
      const isVersionRequired = checkVersion(deps, context, wanted, found.entry, old);
      const prepared = prepareUpdate(deps, request, { old, settled, change: wanted });
      const next = isPromise(prepared) ? await prepared : prepared;
      // A value that is encrypted with an old key is written again, also if nothing else changes.
      if (!deps.cache.isOutdated(found.entry.key)) {
        if (changesNothing(old, next)) return { entry: found.entry, created: false };
        const comparing = isStoredAs(deps, context, found.entry, old, next);
        if (isPromise(comparing) ? await comparing : comparing) return { entry: found.entry, created: false };
      }
      const entry = isFinished(next, served)
        ? await removeFinished(deps, request, found, next)
        : await storeObject(deps, request, {
            found,
            object: next,
            isSettled: settled !== undefined || context.subresource === undefined,
          });
      if (entry) return { entry, created: false };
      if (isVersionRequired || attempt === MAX_ATTEMPTS) throw conflict(served.resource.name, name, CONFLICT_MESSAGE);
    }
  };
  // A webhook may take seconds, and may write the object itself: others do not wait for it.
  const written = await (served.resource.conversion || deps.configured.callsWebhooks(context, "UPDATE")
    ? rewrite()
    : deps.cache.exclusive(key, rewrite));
  // Not while the object is locked: its status may have to change. A removed CRD has released its names.
  if (!options.dryRun && isDefinition(served.resource))
    await settleDefinitions(deps, context, objectIn(written.entry, served));
  return written;
}

/**
 * Whether the new generation would be stored as the old one: a field of this version may be stored as another field,
 * which is what this version then shows.
 */
function isStoredAs(
  deps: WriteDependencies,
  context: RequestContext,
  entry: CachedEntry,
  old: JsonObject,
  next: JsonObject,
): boolean | Promise<boolean> {
  const { served } = context;
  const { generation } = metadataOf(old);
  if (served.isStorage || metadataOf(next).generation === generation) return false;
  const same = { ...next, metadata: { ...metadataOf(next), generation } } as JsonObject;
  return after(toStorage(deps, context, same), (stored) =>
    changesNothing(objectIn(entry, served.resource.storage), stored, "any order"),
  );
}

/** Makes a stored object readable in the version of a request and in that in which it is stored. */
export function prepareStored(
  { conversions }: Pick<WriteDependencies, "conversions">,
  { cluster, served, signal }: RequestContext,
  entry: CachedEntry,
): Promise<unknown> | undefined {
  if (!served.resource.conversion) return undefined;
  return Promise.all([
    conversions.prepare(cluster, served, [entry], signal),
    conversions.prepare(cluster, served.resource.storage, [entry], signal),
  ]);
}

/** An update in preparation. */
interface Update {
  old: JsonObject;
  /** The old object, when it is known to have passed admission. */
  settled: JsonObject | undefined;
  change: Change;
}

/** The object to store. */
function prepareUpdate(
  deps: WriteDependencies,
  request: WriteRequest,
  update: Update,
): JsonObject | Promise<JsonObject> {
  const { failure } = update.change;
  if (!failure) return admitUpdate(deps, request, update);
  const explain = (error: unknown): never => {
    throw explained(failure, error);
  };
  try {
    const admitted = admitUpdate(deps, request, update);
    return isPromise(admitted) ? admitted.catch(explain) : admitted;
  } catch (error) {
    return explain(error);
  }
}

/** A patch whose result cannot be decoded is invalid, where the same object in a PUT would be a bad request. */
function explained(failure: Change["failure"], error: unknown): unknown {
  return failure && error instanceof DecodeError ? failure(error.problem) : error;
}

function admitUpdate(
  deps: WriteDependencies,
  { context, options, seenAs }: WriteRequest,
  { old, settled, change }: Update,
): JsonObject | Promise<JsonObject> {
  const { object: given, appliedFields } = change;
  const { served, subresource } = context;
  const unknown = checkUnwrittenParts(deps, context, given, old, appliedFields !== undefined);
  const givenMetadata = metadataOf(given);
  const stored = metadataOf(old);
  const combined = combine(context, old, given, metadataForUpdate(givenMetadata, stored));
  const object = withoutRepeatedOwners(
    ordered({ ...combined, apiVersion: served.apiVersion, kind: served.resource.kind.kind }),
    context,
    change.failure !== undefined || appliedFields !== undefined,
  );
  const errors =
    subresource === undefined || (subresource === "status" && statusWritesMetadata(served.resource))
      ? validateMetadataUpdate(givenMetadata, stored)
      : [];
  const track = (admitted: JsonObject): JsonObject | Promise<JsonObject> =>
    appliedFields === undefined
      ? deps.conversions.settle(context, () =>
          trackFields(context, deps.clock, options.fieldManager, old, admitted, givenMetadata.managedFields),
        )
      : withManagers(admitted, appliedFields);
  const admitted = admitObject(deps, {
    context,
    options,
    operation: "UPDATE",
    object,
    oldObject: old,
    settled,
    seenAs,
    findings: unknown.length === 0 ? change : { ...change, unknown },
    errors,
    guards: [],
    track,
  });
  return after(admitted, (next) => {
    if (startsGeneration(context, old, next)) metadataOf(next).generation = Number(stored.generation ?? 0) + 1;
    return next;
  });
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
  { context, options }: WriteRequest,
  found: Found,
  object: JsonObject,
): Promise<CachedEntry | undefined> {
  const { cluster, served } = context;
  const stored = await toStorage(deps, context, object);
  const last = unstoredEntry(found, viewOfWritten(served.resource.storage, stored, false));
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
  { chain }: Pick<WriteDependencies, "chain">,
  context: RequestContext,
  { object, requiresVersion, failure }: Change,
  entry: CachedEntry,
  old: JsonObject,
): boolean {
  const {
    served: { resource },
    name = "",
  } = context;
  const sent = metadataOf(object).resourceVersion;
  const text = typeof sent === "string" ? sent : "";
  if (text === "" || text === "0") {
    if (requiresVersion && (!resource.kind.builtIn || resource.kind.traits?.requiresVersion)) {
      const error: FieldError = field.invalid("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(resource.name.group, resource.name.resource, name, [error]);
    }
    return false;
  }
  if (text === String(entry.revision)) return true;
  // A body that cannot be decoded is reported first.
  try {
    decodeSent(chain, context, object, old);
  } catch (error) {
    throw explained(failure, error);
  }
  checkVersionText(text);
  if (Number(text) !== entry.revision) throw conflict(resource.name, name, CONFLICT_MESSAGE);
  return true;
}

/** Throws 500 for a resourceVersion that is not a number, as kube-apiserver does. */
export function checkVersionText(text: string): void {
  if (!/^\d+$/.test(text)) throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
}
