/**
 * Converts PodUnavailableBudget between v1alpha1 and v1beta1. Annotations of v1alpha1 are fields in v1beta1. An invalid
 * annotation is kept. The conversion to v1alpha1 drops `ignoredPodSelector`.
 */
import { defined, omitZero } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { definitionSchema } from "@flotilla/apimachinery";
import { changeObject, objectAt, property, withMap, without, withProperties } from "../api/conversion.ts";

export const PROTECT_OPERATIONS_ANNOTATION = "kruise.io/pub-protect-operations";
export const PROTECT_TOTAL_REPLICAS_ANNOTATION = "pub.kruise.io/protect-total-replicas";
export const PUB_OPERATIONS: readonly string[] = ["DELETE", "UPDATE", "EVICT", "RESIZE"];

const MAX_INT32 = 2 ** 31 - 1;

export function toStorage(object: JsonObject): JsonObject {
  const annotations = objectAt(objectAt(object, "metadata"), "annotations");
  const operations = readOperations(annotations[PROTECT_OPERATIONS_ANNOTATION]);
  const replicas = readReplicas(annotations[PROTECT_TOTAL_REPLICAS_ANNOTATION]);
  return changeObject({ ...object, apiVersion: "policy.kruise.io/v1beta1" }, "spec", (spec) => ({
    ...spec,
    ...omitZero({ protectOperations: operations }),
    ...defined({ protectTotalReplicas: replicas }),
  }));
}

export function fromStorage(object: JsonObject): JsonObject {
  const annotations = objectAt(objectAt(object, "metadata"), "annotations");
  const { protectOperations: operations, protectTotalReplicas: replicas } = objectAt(object, "spec");
  const changes: Record<string, string | undefined> = {};
  if (Array.isArray(operations) && operations.length > 0)
    changes[PROTECT_OPERATIONS_ANNOTATION] = operations.filter((operation) => typeof operation === "string").join(",");
  else if (readOperations(annotations[PROTECT_OPERATIONS_ANNOTATION]))
    changes[PROTECT_OPERATIONS_ANNOTATION] = undefined;
  if (typeof replicas === "number") changes[PROTECT_TOTAL_REPLICAS_ANNOTATION] = String(replicas);
  else if (readReplicas(annotations[PROTECT_TOTAL_REPLICAS_ANNOTATION]) !== undefined)
    changes[PROTECT_TOTAL_REPLICAS_ANNOTATION] = undefined;
  return changeObject(
    { ...withMap(object, "annotations", changes), apiVersion: "policy.kruise.io/v1alpha1" },
    "spec",
    (spec) => without(spec, "protectOperations", "protectTotalReplicas", "ignoredPodSelector"),
  );
}

/** `DELETE,EVICT` as a list; undefined when it is empty or contains other values. */
function readOperations(text: unknown): string[] | undefined {
  if (typeof text !== "string") return undefined;
  const operations = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return operations.length > 0 && operations.every((word) => PUB_OPERATIONS.includes(word)) ? operations : undefined;
}

function readReplicas(text: unknown): number | undefined {
  return typeof text === "string" && /^[+-]?\d{1,10}$/.test(text) && Math.abs(Number(text)) <= MAX_INT32
    ? Number(text)
    : undefined;
}

let schema: Schema | undefined;

/** The v1alpha1 schema of the published CRD, with the fields that v1beta1 adds. */
export function v1beta1Schema(): Schema {
  schema ??= deriveSchema(definitionSchema("podunavailablebudgets.policy.kruise.io", "v1alpha1"));
  return schema;
}

function deriveSchema(alpha: Schema): Schema {
  const spec = property(alpha, "spec");
  return withProperties(alpha, {
    spec: withProperties(spec, {
      protectOperations: { type: "array", items: { type: "string", enum: [...PUB_OPERATIONS] } },
      protectTotalReplicas: { type: "integer", format: "int32", minimum: 1 },
      ignoredPodSelector: property(spec, "selector"),
    }),
  });
}
