/**
 * Field managers of an object's replicas, as seen from its scale. The scale has its own managed fields: the entries of
 * the object that own its replicas, with the path that replicas have in a Scale. Changes by a write are merged back
 * into the object.
 */
import { equalJson, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { fieldSetDifference, hasField, singleField } from "@flotilla/apimachinery";
import type { RequestContext } from "../request/context.ts";
import { textOf } from "../codec/text.ts";

const IN_SCALE: JsonObject = { "f:spec": { "f:replicas": {} } };
const SCALE_VERSION = "autoscaling/v1";

export interface ScaleManagers {
  /** The entries of the scale; undefined when the replicas have no owner. */
  entries: Json | undefined;
  /** The entries of the object after a write produced these for its scale. */
  inParent(entries: Json | undefined): Json;
}

export function scaleManagers(
  managedFields: Json | undefined,
  { served }: RequestContext,
  replicasPath: readonly string[],
): ScaleManagers {
  const parents = (Array.isArray(managedFields) ? managedFields : []).filter(isObject);
  const versions = new Set(served.resource.versions.map(({ apiVersion }) => apiVersion));
  const owners = parents.filter(
    ({ apiVersion, fieldsV1 }) => versions.has(textOf(apiVersion)) && hasField(fieldsV1, replicasPath),
  );
  const entries = owners.map((entry) => ({ ...entry, apiVersion: SCALE_VERSION, fieldsV1: IN_SCALE }));
  return {
    entries: entries.length > 0 ? entries : undefined,
    inParent(after) {
      const left = (Array.isArray(after) ? after : []).filter(isObject);
      if (equalJson(left, entries)) return parents;
      const merged: JsonObject[] = [];
      for (const parent of parents) {
        if (!versions.has(textOf(parent.apiVersion))) continue;
        const isKept =
          !owners.includes(parent) ||
          (parent.operation === "Apply" && left.some((entry) => isSameApplier(entry, parent)));
        const fieldsV1 = isKept ? parent.fieldsV1 : fieldSetDifference(parent.fieldsV1, replicasPath);
        if (fieldsV1 !== undefined) merged.push(isKept ? parent : { ...parent, fieldsV1 });
      }
      for (const entry of left) {
        if (
          !hasField(entry.fieldsV1, ["spec", "replicas"]) ||
          merged.some(
            (parent) => entry.operation === "Apply" && parent.operation === "Apply" && isSameApplier(entry, parent),
          )
        )
          continue;
        // The time belongs to the object's own entry, which this is not.
        const { time: _, ...rest } = entry;
        merged.push({ ...rest, apiVersion: served.apiVersion, fieldsV1: singleField(replicasPath) });
      }
      return merged;
    },
  };
}

function isSameApplier(a: JsonObject, b: JsonObject): boolean {
  return a.operation === b.operation && a.manager === b.manager && (a.subresource ?? "") === (b.subresource ?? "");
}
