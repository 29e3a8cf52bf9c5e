/** The scale subresource: the replicas of any kind through `autoscaling/v1 Scale`. */
import {
  applyConfiguration,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  canonicalObject,
  compileSchema,
  DecodeError,
  field,
  formatGo,
  formatLabelSelector,
  invalid,
  jsonTypeName,
  kindSchema,
  parseApiVersion,
  patchInvalid,
  pathNotFound,
  readMergePatch,
  recordUpdate,
  undecodable,
} from "@flotilla/apimachinery";
import type { KubernetesObject, ScalePaths } from "@flotilla/apimachinery";
import { formatTime, isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { PatchType } from "@flotilla/client";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import type { DecodedObject, DecodedPatch, Findings } from "../codec/decode.ts";
import { reportFields } from "../write/field-validation.ts";
import { checkPlace, unregisteredKind } from "../write/identity.ts";
import { metadataOf } from "../codec/metadata.ts";
import { writeOptions } from "../request/options.ts";
import type { WriteOptions } from "../request/options.ts";
import { readApplied, reportRepeated } from "../write/patch.ts";
import { objectIn } from "../codec/render.ts";
import { scaleManagers } from "./scale-managers.ts";
import { pathParts, valueAt, withValueAt } from "../codec/field-paths.ts";
import { textOf } from "../codec/text.ts";
import { uidConflict } from "../write/store-object.ts";
import type { WriteDependencies } from "../write/store-object.ts";
import { rewriteObject } from "../write/update.ts";
import type { SeenAs } from "../write/configured-phases.ts";

function pathsOf({ served }: RequestContext): ScalePaths {
  const { scale } = served.subresources;
  if (!scale) throw pathNotFound();
  return scale;
}

/** The Scale of an object. */
export function scaleOf(context: RequestContext, object: JsonObject): JsonObject {
  const paths = pathsOf(context);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const replicas = valueAt(object, paths.specReplicasPath);
  const selector =
    paths.labelSelectorPath === undefined ? undefined : selectorText(valueAt(object, paths.labelSelectorPath));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })) as JsonObject,
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: Number(valueAt(object, paths.statusReplicasPath) ?? 0),
      ...defined({ selector: selector !== undefined && selector !== "" ? selector : undefined }),
    },
  };
}

/** Sets the replicas, from a whole Scale or a patch; returns the resulting Scale. */
export async function updateScale(
  deps: WriteDependencies,
  context: RequestContext,
  verb: "update" | "patch",
  body: ScaleBody,
): Promise<JsonObject> {
  const paths = pathsOf(context);
  const isApply = body.type === "apply";
  const options = writeOptions(context, verb === "update" ? "UpdateOptions" : "PatchOptions", isApply);
  const parts = pathParts(paths.specReplicasPath);
  const { served, name = "" } = context;
  const seenAs: SeenAs = {
    kind: { group: "autoscaling", version: "v1", kind: SCALE.kind },
    of: (object) => scaleOf(context, object),
    into(object, { spec }) {
      const replicas = isObject(spec) ? spec.replicas : 0;
      return withValueAt(object, parts, typeof replicas === "number" ? replicas : 0);
    },
  };
  const { entry } = await rewriteObject(deps, { context, options, verb, seenAs }, (old) => {
    const current = scaleOf(context, old);
    const managers = scaleManagers(metadataOf(old).managedFields, context, parts);
    const wanted = isApply
      ? appliedScale(deps, context, options, body, withManagers(current, managers.entries))
      : readScale(context, options, body, current);
    checkPlace(context, metadataOf(wanted), name);
    const { uid, resourceVersion: sent } = metadataOf(wanted);
    if (typeof uid === "string" && uid !== "" && uid !== metadataOf(old).uid)
      throw uidConflict(context, uid, metadataOf(old).uid);
    const replicas = isObject(wanted.spec) ? (wanted.spec.replicas ?? 0) : 0;
    // Custom objects are validated by their own rules, which name the path.
    if (typeof replicas !== "number" || (replicas < 0 && served.resource.kind.builtIn))
      throw invalid("autoscaling", "Scale", name, [
        field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
      ]);
    const tracked = isApply
      ? wanted
      : recordedScale(deps, context, options, withManagers(current, managers.entries), wanted);
    const { resourceVersion: _, ...metadata } = metadataOf(old);
    const isVersionRequired =
      typeof sent === "string" && (verb === "update" || sent !== metadataOf(old).resourceVersion);
    return {
      object: {
        ...withValueAt(old, parts, replicas),
        metadata: { ...metadata, ...defined({ resourceVersion: isVersionRequired ? sent : undefined }) },
      },
      duplicates: [],
      requiresVersion: false,
      appliedFields: managers.inParent(metadataOf(tracked).managedFields),
    };
  });
  await deps.conversions.prepare(context.cluster, served, [entry], context.signal);
  return scaleOf(context, objectIn(entry, served));
}

/** The requested change of a scale. */
export type ScaleBody =
  | { type: "update"; sent: DecodedObject }
  | { type: Exclude<PatchType, "apply">; sent: DecodedPatch }
  | { type: "apply"; sent: DecodedPatch };

const SCALE = { apiVersion: "autoscaling/v1", kind: "Scale" };

/** The Scale that results from an update or a patch, as an object of its kind. */
function readScale(
  context: RequestContext,
  options: WriteOptions,
  body: Exclude<ScaleBody, { type: "apply" }>,
  current: JsonObject,
): JsonObject {
  if (body.type === "update") {
    const { object, ...findings } = body.sent;
    checkScaleKind(object);
    return canonicalScale(context, options, object, findings);
  }
  const { value, ...findings } = body.sent;
  const result =
    body.type === "json"
      ? applyJsonPatch(current, value)
      : body.type === "merge"
        ? applyMergePatch(current, readMergePatch(value))
        : applyStrategicMergePatch(current, value, kindSchema("autoscaling-v1", "Scale"));
  const shown = (): string => (body.type === "strategic" ? formatGo(value) : JSON.stringify(result));
  if (!isObject(result))
    throw patchInvalid(shown(), `json: cannot unmarshal ${jsonTypeName(result)} into Go value of type v1.Scale`);
  try {
    return canonicalScale(context, options, result, findings);
  } catch (error) {
    throw error instanceof DecodeError ? patchInvalid(shown(), error.problem) : error;
  }
}

function checkScaleKind({ apiVersion, kind }: JsonObject): void {
  const sent = textOf(kind ?? "") || SCALE.kind;
  const version = textOf(apiVersion ?? "") || SCALE.apiVersion;
  if (sent === SCALE.kind && version === SCALE.apiVersion) return;
  throw undecodable(
    { sent, version: parseApiVersion(version).version, kind: SCALE.kind },
    unregisteredKind(sent, version),
  );
}

function canonicalScale(
  context: RequestContext,
  options: WriteOptions,
  object: JsonObject,
  findings: Findings,
): JsonObject {
  const canonical = canonicalObject("autoscaling-v1", "Scale", {
    ...object,
    ...SCALE,
  } as unknown as KubernetesObject) as unknown as JsonObject;
  const unknown: string[] = [];
  const scale = compileSchema(kindSchema("autoscaling-v1", "Scale")).admit(canonical, { unknownFields: unknown });
  reportFields(
    unknown,
    findings,
    {
      ...context,
      served: {
        ...context.served,
        version: "v1",
        resource: { ...context.served.resource, kind: { ...context.served.resource.kind, ...SCALE, builtIn: true } },
      },
    },
    options,
  );
  return scale;
}

function appliedScale(
  deps: WriteDependencies,
  context: RequestContext,
  options: WriteOptions,
  body: Extract<ScaleBody, { type: "apply" }>,
  live: JsonObject,
): JsonObject {
  const { served, namespace = "", name = "" } = context;
  const patch = body.sent;
  const applied = readApplied({ ...served, apiVersion: SCALE.apiVersion }, patch.value, SCALE.kind);
  // kube-apiserver does not support this for custom resources and returns this error.
  if (!served.resource.kind.builtIn)
    throw plainError(
      `failed to convert new object (${namespace}/${name}; autoscaling/v1, Kind=Scale) to proper version: ` +
        "request to convert CR to an invalid group/version: autoscaling/v1",
    );
  const scale = applyConfiguration({
    live,
    applied,
    schema: kindSchema("autoscaling-v1", "Scale"),
    manager: options.fieldManager,
    apiVersion: SCALE.apiVersion,
    subresource: "scale",
    force: options.force,
    time: formatTime(deps.clock.now()),
    builtIn: true,
  });
  reportRepeated(patch, context, options);
  return scale;
}

function recordedScale(
  deps: WriteDependencies,
  { served }: RequestContext,
  options: WriteOptions,
  before: JsonObject,
  after: JsonObject,
): JsonObject {
  const { managedFields } = metadataOf(before);
  if (!served.resource.kind.builtIn && managedFields === undefined) return after;
  return recordUpdate({
    before,
    after: withManagers(after, managedFields),
    schema: kindSchema("autoscaling-v1", "Scale"),
    manager: options.fieldManager,
    apiVersion: SCALE.apiVersion,
    subresource: "scale",
    time: formatTime(deps.clock.now()),
    builtIn: true,
  });
}

function withManagers(scale: JsonObject, managedFields: Json | undefined): JsonObject {
  const { managedFields: _, ...metadata } = metadataOf(scale);
  return { ...scale, metadata: { ...metadata, ...defined({ managedFields }) } };
}

/** Selectors are strings in a Scale, and objects in most kinds. */
function selectorText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (!isObject(value)) return undefined;
  // A ReplicationController selects by plain labels.
  const isSelector =
    Object.keys(value).length === 0 || isObject(value.matchLabels) || Array.isArray(value.matchExpressions);
  return formatLabelSelector(isSelector ? value : { matchLabels: value as Record<string, string> });
}
