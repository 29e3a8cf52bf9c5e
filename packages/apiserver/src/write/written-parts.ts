/** Which parts of an object a request writes, and which changes start a new generation. */
import { equalJson, objectOf, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { partOf } from "../resources/resources.ts";
import type { Resource, ServedVersion } from "../resources/resources.ts";
import type { RequestContext } from "../request/context.ts";
import { isDefinition } from "../resources/definition.ts";
import { metadataOf } from "../codec/metadata.ts";

/**
 * The part of the object that a request may change: everything but the status, only the status, only the finalizers, or
 * the part that the kind names, which is extracted later.
 */
export function combine(
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
      metadata: statusMetadata(resource, metadata, stored),
      ...defined({ status: given.status }),
    };
  }
  if (subresource === "finalize") {
    const finalizers = objectOf(given.spec)["finalizers"];
    return { ...old, metadata, spec: { ...objectOf(old.spec), finalizers: finalizers ?? [] } };
  }
  // The writer of a part owns the fields that it sent, although the rest is dropped.
  if (!served.subresources.status || partOf(served, subresource)) return { ...given, metadata };
  const { status: _, ...rest } = given;
  return { ...rest, metadata, ...defined({ status: old.status }) };
}

/** Most kinds with a separate status are created without one. */
export function withoutInitialStatus({ subresources, resource }: ServedVersion, object: JsonObject): JsonObject {
  if (!subresources.status || resource.kind.traits?.statusOnCreate || object.status === undefined) return object;
  const { status: _, ...rest } = object;
  return rest;
}

/** Metadata that writers of status may not change. Most kinds allow them to change all metadata. */
const KEPT_BY_STATUS: Readonly<Record<string, string>> = { "apps/Deployment": "labels", "/Pod": "ownerReferences" };

/** What a write of the status leaves of the metadata: all of it, or some fields. */
export function keptByStatus(resource: Resource): "all" | readonly string[] {
  const { kind } = resource;
  if (!kind.builtIn || isDefinition(resource) || kind.traits?.statusKeepsMetadata) return "all";
  const field = KEPT_BY_STATUS[`${kind.group}/${kind.kind}`];
  return field === undefined ? [] : [field];
}

/** Whether a write of the status may change metadata, which is then validated. */
export const statusWritesMetadata = (resource: Resource): boolean =>
  keptByStatus(resource) !== "all" && resource.kind.kind !== "Pod";

function statusMetadata(resource: Resource, metadata: JsonObject, stored: JsonObject): JsonObject {
  const kept = keptByStatus(resource);
  if (kept === "all") return stored;
  const [field] = kept;
  if (field === undefined) return metadata;
  const { [field]: _, ...rest } = metadata;
  const before = stored[field];
  return before === undefined ? rest : { ...rest, [field]: before };
}

/** A new generation starts when the desired state changes. */
export function startsGeneration(context: RequestContext, old: JsonObject, next: JsonObject): boolean {
  const { served } = context;
  return (
    served.resource.kind.hasGeneration &&
    (changesSpec(old, next, served.subresources.status === true) ||
      changesRollout(context, old, next) ||
      changesCountedLabels(context, old, next))
  );
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
