/** Patches: JSON patch, merge patch, strategic merge patch for built-in kinds, and server-side apply. */
import {
  ApiError,
  applyConfiguration,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  conflict,
  CONFLICT_MESSAGE,
  conversionProblem,
  DecodeError,
  field,
  formatGo,
  formatJson,
  inOrderOfAppearance,
  internalError,
  invalid,
  jsonTypeName,
  MAX_STRICT_PROBLEMS,
  parseApiVersion,
  patchInvalid,
  readMergePatch,
  unsupportedMediaType,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { formatTime, isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { PatchType } from "@flotilla/client";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import { yamlLines } from "../codec/yaml-problem.ts";
import type { DecodedPatch, Findings } from "../codec/decode.ts";
import { canonicalForm } from "./admit.ts";
import { checkPlace, otherKind } from "./identity.ts";
import { checkManagers, otherVersions } from "./managed-fields.ts";
import { metadataOf } from "../codec/metadata.ts";
import { writeOptions } from "../request/options.ts";
import type { WriteOptions } from "../request/options.ts";
import { keyOf } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { insertObject } from "./create.ts";
import { checkMayCreate } from "./store-object.ts";
import type { WriteDependencies, WriteRequest, Written } from "./store-object.ts";
import { checkVersionText, rewriteObject } from "./update.ts";
import type { Change } from "./update.ts";
import { checkUnwrittenParts } from "./unwritten-parts.ts";
import { keptByStatus } from "./written-parts.ts";
import { textOf } from "../codec/text.ts";

const CONTENT_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

const CUSTOM_TYPES =
  "the body of the request was in an unknown format - accepted media types include: " +
  "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/**
 * The patch type of a media type. Strategic merge needs Go types upstream and their facts here, so custom kinds do not
 * support it.
 */
export function patchTypeOf(mediaType: string, builtIn: boolean): PatchType {
  const type = Object.hasOwn(CONTENT_TYPES, mediaType) ? CONTENT_TYPES[mediaType] : undefined;
  if (type === "strategic" && !builtIn) throw unsupportedMediaType(CUSTOM_TYPES);
  if (!type) {
    const { status } = unsupportedMediaType("415: Unsupported Media Type");
    throw new ApiError({ ...status, details: {} });
  }
  return type;
}

export async function patchObject(
  deps: WriteDependencies,
  context: RequestContext,
  type: PatchType,
  patch: DecodedPatch,
): Promise<Written> {
  const request: WriteRequest = {
    context,
    options: writeOptions(context, "PatchOptions", type === "apply"),
    verb: "patch",
  };
  if (type === "apply") return applyObject(deps, request, patch);
  const findings = type === "json" ? operationFindings(patch) : patch;
  return rewriteObject(deps, request, (old) => patched(context, type, old, patch.value, findings));
}

function patched(
  context: RequestContext,
  type: Exclude<PatchType, "apply">,
  old: JsonObject,
  value: Json,
  { duplicates, problems }: Findings,
): Change {
  const { served, name = "" } = context;
  const { kind } = served.resource;
  const result =
    type === "json"
      ? applyJsonPatch(old, value)
      : type === "merge"
        ? applyMergePatch(old, readMergePatch(value))
        : applyStrategicMergePatch(old, value, served.schema);
  const failure = (problem: string): Error =>
    type === "strategic"
      ? patchInvalid(formatGo(value), conversionProblem(problem))
      : patchInvalid(kind.builtIn ? JSON.stringify(result) : formatJson(result), problem);
  if (!isObject(result))
    throw failure(`json: cannot unmarshal ${jsonTypeName(result)} into Go value of type map[string]interface {}`);
  // An object without apiVersion cannot be decoded, and the first error is about its name.
  if (type !== "strategic" && !result.apiVersion) {
    if (!kind.builtIn) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
    checkPlace(context, {}, name);
  }
  const apiVersion = textOf(result.apiVersion ?? "") || served.apiVersion;
  const sent = textOf(result.kind ?? "") || kind.kind;
  if (!kind.builtIn) checkCustomKind(context, apiVersion, sent);
  // A strategic merge operates on structs, whose kind is fixed.
  if (type !== "strategic" && (apiVersion !== served.apiVersion || sent !== kind.kind))
    throw failure(otherKind(context, apiVersion, sent).problem);
  checkPlace(context, metadataOf(result), name);
  return { object: withSentVersion(result, old), duplicates, problems, requiresVersion: false, failure };
}

/** The patched custom object is decoded by its own type, and rejected when that is another kind. */
function checkCustomKind({ served, name = "" }: RequestContext, apiVersion: string, sent: string): void {
  const { kind } = served.resource.kind;
  const errors: FieldError[] = [];
  if (sent !== kind) errors.push(field.invalid("kind", sent, `must be ${kind}`));
  if (apiVersion !== served.apiVersion)
    errors.push(field.invalid("apiVersion", apiVersion, `must be ${served.apiVersion}`));
  if (errors.length > 0) throw invalid(parseApiVersion(apiVersion).group, sent, name, errors);
}

const OPERATION_KEYS = new Set(["op", "path", "from", "value"]);

/** Unknown or duplicate keys of a JSON patch. They belong to the patch, not to the object. */
function operationFindings({ value, duplicates, text }: DecodedPatch): Findings {
  const unknown: string[] = [];
  for (const [index, operation] of (Array.isArray(value) ? value : []).entries()) {
    for (const key in isObject(operation) ? operation : {})
      if (!OPERATION_KEYS.has(key)) unknown.push(`[${index}].${key}`);
    if (unknown.length >= MAX_STRICT_PROBLEMS) break;
  }
  if (unknown.length === 0 && duplicates.length === 0) return NO_FINDINGS;
  const found =
    text === undefined ? unknown.map((path) => ({ field: path, repeated: false })) : inOrderOfAppearance(text, unknown);
  return {
    duplicates: [],
    problems: found.map(({ field, repeated }) => `json patch ${repeated ? "duplicate" : "unknown"} field "${field}"`),
  };
}

const NO_FINDINGS: Findings = { duplicates: [] };

/** A patch requires a resourceVersion only when it changes it; the value from the stored object does not count. */
function withSentVersion(result: JsonObject, old: JsonObject): JsonObject {
  const metadata = metadataOf(result);
  if (metadata.resourceVersion !== metadataOf(old).resourceVersion) return result;
  const { resourceVersion: _, ...rest } = metadata;
  return { ...result, metadata: rest };
}

/**
 * Server-side apply: the patch contains all fields that this manager desires. Creates the object when it does not
 * exist.
 */
async function applyObject(deps: WriteDependencies, request: WriteRequest, patch: DecodedPatch): Promise<Written> {
  const { context, options } = request;
  const { cluster, served, namespace, name = "", subresource } = context;
  const { resource } = served;
  const given = readApplied(served, patch.value);
  const applied = canonicalForm(deps, context, given, () => {});
  // The canonical form may depend on the stored object. Its warnings are sent once, however often the write is retried.
  let hasWarned = false;
  const formFor = (live: JsonObject | undefined): JsonObject => {
    const form = canonicalForm(deps, context, given, hasWarned ? () => {} : context.warn, live);
    hasWarned = true;
    return form;
  };
  const compute = (live: JsonObject | undefined): JsonObject => {
    try {
      checkUnwrittenParts(deps, context, applied, live);
    } catch (error) {
      throw unreadable(context, applied, error);
    }
    const object = applyConfiguration({
      live,
      applied: formFor(live),
      schema: served.schema,
      manager: options.fieldManager,
      apiVersion: served.apiVersion,
      subresource,
      force: options.force,
      time: formatTime(deps.clock.now()),
      builtIn: resource.kind.builtIn,
      versions: otherVersions(context),
      hidesStatus: served.subresources.status === true,
      keptByStatus: keptByStatus(resource),
    });
    checkManagers(context, object);
    reportRepeated(patch, context, options);
    // A status endpoint ignores everything besides the status, except for the name.
    checkPlace(
      context,
      subresource === "status" && live ? { ...metadataOf(object), ...metadataOf(applied) } : metadataOf(object),
      name,
    );
    return object;
  };
  const key = keyOf(resource, cluster.name, namespace, name);

  if (!deps.store.find(cluster, resource, key).entry && subresource === undefined) {
    await checkMayCreate(deps, context);
    const { uid, resourceVersion } = metadataOf(applied);
    const { status } = applied;
    // A kind with statusOnCreate keeps the applied status on creation, without a field manager through this endpoint.
    const object = {
      ...(await deps.conversions.settle(context, () => compute(undefined))),
      ...defined({ status: resource.kind.traits?.statusOnCreate && status !== undefined ? status : undefined }),
    };
    if (typeof uid === "string" && uid !== "")
      throw conflict(
        resource.name,
        name,
        `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      );
    if (typeof resourceVersion === "string" && resourceVersion !== "") checkVersionText(resourceVersion);
    const entry = await readable(context, applied, () =>
      insertObject(deps, {
        ...request,
        body: { object, duplicates: [] },
        name,
        appliedFields: metadataOf(object).managedFields ?? [],
      }),
    );
    if (entry) return { entry, created: true };
  }
  const rewrite = (): Promise<Written> =>
    rewriteObject(deps, request, (live) => {
      const object = compute(live);
      const { resourceVersion: sent } = metadataOf(applied);
      if (typeof sent === "string" && sent !== "" && sent !== "0") {
        checkVersionText(sent);
        if (sent !== metadataOf(live).resourceVersion) throw conflict(resource.name, name, CONFLICT_MESSAGE);
      }
      return {
        object: withSentVersion(object, live),
        duplicates: [],
        requiresVersion: false,
        appliedFields: metadataOf(object).managedFields ?? [],
      };
    });
  return readable(context, applied, rewrite);
}

/**
 * A configuration that matches the schema may still produce an object that its kind cannot decode. kube-apiserver
 * returns 500 then.
 */
async function readable<T>(context: RequestContext, applied: JsonObject, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreadable(context, applied, error);
  }
}

function unreadable({ served }: RequestContext, applied: JsonObject, error: unknown): unknown {
  if (!(error instanceof DecodeError) || !served.resource.kind.builtIn) return error;
  const { namespace, name } = metadataOf(applied);
  const type = `${served.apiVersion.includes("/") ? "" : "/"}${served.apiVersion}, Kind=${served.resource.kind.kind}`;
  return plainError(
    `failed to convert new object (${textOf(namespace)}/${textOf(name)}; ${type}) to proper version: unable to ` +
      `convert unstructured object to ${type}: ${conversionProblem(error.problem)}`,
  );
}

/** The configuration in the body of an apply, which must have the endpoint's kind and version. */
export function readApplied(
  { apiVersion, resource }: Pick<ServedVersion, "apiVersion" | "resource">,
  patch: Json,
  kind = resource.kind.kind,
): JsonObject {
  if (patch !== null && !isObject(patch))
    throw badRequest(
      "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
        `${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  const applied = patch ?? {};
  const sent = textOf(applied.apiVersion ?? "");
  if (sent !== apiVersion || applied.kind !== kind)
    throw badRequest(
      `invalid object type: ${sent.includes("/") ? sent : `/${sent}`}, Kind=${textOf(applied.kind ?? "")}`,
    );
  return applied;
}

/** Reports duplicate keys of a configuration that is otherwise valid. */
export function reportRepeated(
  { problems = [] }: Findings,
  { warn }: RequestContext,
  { fieldValidation }: WriteOptions,
): void {
  if (fieldValidation === "Ignore") return;
  for (const problem of problems) {
    if (fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${problem}`);
    for (const line of yamlLines(problem)) warn(line);
  }
}
