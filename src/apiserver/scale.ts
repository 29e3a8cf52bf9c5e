/** The scale subresource: replicas of any kind through one small object, `autoscaling/v1 Scale`. */
import { isObject } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import type { ScalePaths } from "../api/index.ts";
import { badRequest, formatLabelSelector, invalid, pathNotFound } from "../machinery/index.ts";
import type { PatchType } from "../client/index.ts";
import { applyJsonPatch, applyMergePatch, notImplemented } from "../machinery/index.ts";
import { invalidValue } from "./context.ts";
import type { RequestContext } from "./context.ts";
import { metadataOf } from "./metadata.ts";
import { writeOptions } from "./options.ts";
import { objectIn } from "./render.ts";
import { rewriteObject } from "./write.ts";
import type { WriteDependencies } from "./write.ts";
import { textOf } from "./text.ts";

function pathsOf({ served }: RequestContext): ScalePaths {
  const { scale } = served.resource.kind.subresources;
  if (!scale) throw pathNotFound();
  return scale;
}

/** What the scale of an object looks like. */
export function scaleOf(context: RequestContext, object: JsonObject): JsonObject {
  const paths = pathsOf(context);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const replicas = valueAt(object, paths.specReplicasPath);
  const selector = paths.labelSelectorPath === undefined ? undefined : selectorText(valueAt(object, paths.labelSelectorPath));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })) as JsonObject,
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: { replicas: Number(valueAt(object, paths.statusReplicasPath) ?? 0), ...(selector !== undefined && selector !== "" && { selector }) },
  };
}

/** Sets the replicas, from a whole Scale or a patch of one; answers the scale as it is then. */
export async function updateScale(deps: WriteDependencies, context: RequestContext, verb: "update" | "patch", compute: (scale: JsonObject) => JsonObject): Promise<JsonObject> {
  const paths = pathsOf(context);
  const options = writeOptions(context, verb === "update" ? "UpdateOptions" : "PatchOptions");
  const parts = pathParts(paths.specReplicasPath);
  // The parent is changed as a whole, so it is not the `scale` part of it that is written; field managers see the subresource.
  const { entry } = await rewriteObject(deps, context, options, verb, (old) => {
    const current = scaleOf(context, old);
    const wanted = compute(current);
    const { name } = metadataOf(wanted);
    if (name !== undefined && name !== context.name) throw badRequest(`the name of the object (${textOf(name)}) does not match the name on the URL (${context.name ?? ""})`);
    const replicas = isObject(wanted.spec) ? (wanted.spec.replicas ?? 0) : 0;
    if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
      throw invalid("autoscaling", "Scale", context.name ?? "", [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]);
    }
    const sent = metadataOf(wanted).resourceVersion;
    const { resourceVersion: _, ...metadata } = metadataOf(old);
    const insists = sent !== metadataOf(old).resourceVersion || verb === "update";
    const object = withValueAt(old, parts, replicas);
    return {
      object: { ...object, metadata: insists && typeof sent === "string" ? { ...metadata, resourceVersion: sent } : metadata },
      duplicates: [],
      requiresVersion: false,
    };
  });
  return scaleOf(context, objectIn(entry, context.served));
}

/** A Scale out of a patch of it. Its list fields are few and its merge keys none, so strategic merge is merge. */
export function patchScale(type: PatchType, patch: Json): (scale: JsonObject) => JsonObject {
  if (type === "apply") throw notImplemented("server-side apply to the scale subresource");
  return (scale) => {
    const result = type === "json" ? applyJsonPatch(scale, patch) : applyMergePatch(scale, patch);
    if (!isObject(result)) throw badRequest("the patch does not leave an object");
    return result;
  };
}

/** Selectors are text in the scale, and an object in most kinds. */
function selectorText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return isObject(value) ? formatLabelSelector(value) : undefined;
}

/** `.spec.replicas`; scale paths are fields only. */
function pathParts(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of pathParts(path)) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

function withValueAt(object: JsonObject, [first = "", ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...object, [first]: value };
  const inner = object[first];
  return { ...object, [first]: withValueAt(isObject(inner) ? inner : {}, rest, value) };
}
