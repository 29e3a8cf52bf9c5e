/** Patches: JSON patch, merge patch, strategic merge patch for built-in kinds, and server-side apply. */
import { formatTime, isObject } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import type { PatchType } from "../client/index.ts";
import { ApiError, CHANGED_MEANWHILE, applyConfiguration, applyJsonPatch, applyMergePatch, applyStrategicMergePatch, badRequest, conflict, invalid, unsupportedMediaType } from "../machinery/index.ts";
import type { RequestContext } from "./context.ts";
import { metadataOf } from "./metadata.ts";
import { writeOptions } from "./options.ts";
import type { WriteOptions } from "./options.ts";
import { keyOf } from "./resources.ts";
import { insertObject, rewriteObject } from "./write.ts";
import type { Change, WriteDependencies, Written } from "./write.ts";
import { textOf } from "./text.ts";

const CONTENT_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** The patch type of a media type. Strategic merge needs Go types upstream and their facts here, so custom kinds do not have it. */
export function patchTypeOf(mediaType: string, builtIn: boolean): PatchType {
  const type = Object.hasOwn(CONTENT_TYPES, mediaType) ? CONTENT_TYPES[mediaType] : undefined;
  if (!type || (type === "strategic" && !builtIn)) {
    const { status } = unsupportedMediaType("415: Unsupported Media Type");
    throw new ApiError({ ...status, details: {} });
  }
  return type;
}

/** A patch as it was sent. */
export interface DecodedPatch {
  value: Json;
  /** Keys that it held twice. */
  duplicates: readonly string[];
}

export async function patchObject(deps: WriteDependencies, context: RequestContext, type: PatchType, patch: DecodedPatch): Promise<Written> {
  const options = writeOptions(context, "PatchOptions", type === "apply");
  if (type === "apply") return applyObject(deps, context, options, patch.value);
  return rewriteObject(deps, context, options, "patch", (old) => patched(context, type, old, patch));
}

function patched({ served, name = "", namespace }: RequestContext, type: Exclude<PatchType, "apply">, old: JsonObject, { value, duplicates }: DecodedPatch): Change {
  const result = type === "json" ? applyJsonPatch(old, value) : type === "merge" ? applyMergePatch(old, asPatch(value)) : applyStrategicMergePatch(old, asPatch(value), served.schema);
  if (!isObject(result)) throw badRequest("the patch does not leave an object");
  if (result.apiVersion !== served.apiVersion || result.kind !== served.resource.kind.kind) {
    throw invalid("", "", "", [{ type: "Invalid", field: "patch", message: `Invalid value: the patch turns the object into a ${textOf(result.apiVersion)} ${textOf(result.kind)}` }]);
  }
  const metadata = metadataOf(result);
  if (metadata.name !== name) throw badRequest(`the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${name})`);
  if (served.resource.namespaced && metadata.namespace !== namespace) throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  return { object: withSentVersion(result, old), duplicates, requiresVersion: false, isPatch: true };
}

function asPatch(patch: Json): JsonObject {
  if (!isObject(patch)) throw badRequest("the patch must be an object");
  return patch;
}

/** A patch insists on a resourceVersion only when it changes it; the one it was given is not its own. */
function withSentVersion(result: JsonObject, old: JsonObject): JsonObject {
  const metadata = metadataOf(result);
  if (metadata.resourceVersion !== metadataOf(old).resourceVersion) return result;
  const { resourceVersion: _, ...rest } = metadata;
  return { ...result, metadata: rest };
}

/** Server-side apply: the patch is everything that this manager wants. Creates the object when it is absent. */
async function applyObject(deps: WriteDependencies, context: RequestContext, options: WriteOptions, patch: Json): Promise<Written> {
  const { cluster, served, namespace, name = "", subresource } = context;
  const { resource } = served;
  const applied = checkApplied(context, patch);
  const compute = (live: JsonObject | undefined): JsonObject =>
    applyConfiguration({
      live,
      applied,
      schema: served.schema,
      manager: options.fieldManager,
      apiVersion: served.apiVersion,
      subresource,
      force: options.force,
      time: formatTime(deps.clock.now()),
      builtIn: resource.kind.builtIn,
    });
  const key = keyOf(resource, cluster.name, namespace, name);

  if (!deps.store.find(cluster, resource, key).entry && subresource === undefined) {
    const { uid } = metadataOf(applied);
    if (typeof uid === "string" && uid !== "") throw conflict(resource.name, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
    const object = compute(undefined);
    const entry = await insertObject(deps, context, options, { object, duplicates: [] }, name, "patch", metadataOf(object).managedFields);
    if (entry) return { entry, created: true };
  }
  return rewriteObject(deps, context, options, "patch", (live) => {
    const sent = metadataOf(applied).resourceVersion;
    if (typeof sent === "string" && sent !== "" && sent !== "0" && sent !== metadataOf(live).resourceVersion) throw conflict(resource.name, name, CHANGED_MEANWHILE);
    const object = compute(live);
    const { managedFields } = metadataOf(object);
    return { object: withSentVersion(object, live), duplicates: [], requiresVersion: false, ...(managedFields !== undefined && { appliedFields: managedFields }) };
  });
}

function checkApplied({ served, name = "", namespace, subresource }: RequestContext, patch: Json): JsonObject {
  const applied = asPatch(patch);
  if (applied.apiVersion === undefined || applied.kind === undefined) throw badRequest(`invalid object type: ${typeof applied.apiVersion !== "string" ? "/" : applied.apiVersion.includes("/") ? applied.apiVersion : `/${applied.apiVersion}`}, Kind=${textOf(applied.kind ?? "")}`);
  if (applied.apiVersion !== served.apiVersion || applied.kind !== served.resource.kind.kind) {
    throw badRequest(`the apply configuration must be of ${served.apiVersion} ${served.resource.kind.kind}, not ${textOf(applied.apiVersion)} ${textOf(applied.kind)}`);
  }
  const metadata = metadataOf(applied);
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) throw badRequest("metadata.managedFields must be nil");
  if (metadata.name === undefined || metadata.name === "") throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name) throw badRequest(`the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${name})`);
  if (served.resource.namespaced && metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  // Only what the endpoint writes can be owned through it.
  if (subresource === "status") return { apiVersion: served.apiVersion, kind: served.resource.kind.kind, metadata, ...(applied.status !== undefined && { status: applied.status }) };
  const { status, ...rest } = applied;
  const keepsStatus = status !== undefined && !served.resource.kind.subresources.status;
  return { ...rest, metadata, ...(keepsStatus && { status }) };
}
