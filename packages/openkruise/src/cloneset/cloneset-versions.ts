/**
 * Converts CloneSet between v1alpha1 and v1beta1. Labels and annotations of v1alpha1 are fields in v1beta1, and its
 * single update type is two fields there. The conversion is lossy: under OnDelete v1beta1 has no rolling update, so
 * partition and similar fields are dropped.
 */
import {
  PREDOWNLOAD_MIN_READY_ANNOTATION,
  PREDOWNLOAD_PARALLELISM_ANNOTATION,
  PREDOWNLOAD_TIMEOUT_ANNOTATION,
} from "../api/kruise-names.ts";
import { EXCLUDE_PREPARING_DELETE_LABEL } from "./cloneset-names.ts";
import { isObject, type Json, type JsonObject, defined, omitZero, omitEmpty } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { definitionSchema } from "@flotilla/apimachinery";
import { objectAt, fieldUnlessEmpty, property, withProperties } from "../api/conversion.ts";
import { valueAt } from "../api/lost-fields.ts";

const MOVED = [
  "partition",
  "maxUnavailable",
  "maxSurge",
  "paused",
  "priorityStrategy",
  "scatterStrategy",
  "inPlaceUpdateStrategy",
] as const;

/** v1beta1 field → v1alpha1 annotation. */
const PRE_DOWNLOAD: ReadonlyMap<string, string> = new Map([
  ["imagePreDownloadParallelism", PREDOWNLOAD_PARALLELISM_ANNOTATION],
  ["imagePreDownloadTimeoutSeconds", PREDOWNLOAD_TIMEOUT_ANNOTATION],
  ["imagePreDownloadMinUpdatedReadyPods", PREDOWNLOAD_MIN_READY_ANNOTATION],
]);

/** v1alpha1 → v1beta1. */
export function toStorage(object: JsonObject): JsonObject {
  return { ...specToBeta(object), apiVersion: "apps.kruise.io/v1beta1" };
}

/** The same for any object with the metadata and spec of a CloneSet, such as a template. */
export function specToBeta(object: JsonObject): JsonObject {
  if (object["spec"] === undefined) return object;
  const { scaleStrategy, updateStrategy, ...rest } = objectAt(object, "spec");
  const metadata = objectAt(object, "metadata");
  const isExcluding = objectAt(metadata, "labels")[EXCLUDE_PREPARING_DELETE_LABEL] === "true";
  return {
    ...object,
    spec: {
      ...rest,
      ...scaleToBeta(isObject(scaleStrategy) ? scaleStrategy : {}, isExcluding),
      ...updateToBeta(isObject(updateStrategy) ? updateStrategy : undefined, objectAt(metadata, "annotations")),
    },
  };
}

/** Reuse of claims is on by default in v1alpha1 and off in v1beta1, so an absent strategy differs in meaning. */
function scaleToBeta({ disablePVCReuse, ...rest }: JsonObject, isExcluding: boolean): JsonObject {
  return fieldUnlessEmpty("scaleStrategy", {
    ...rest,
    ...defined({
      enablePVCReuse: disablePVCReuse !== true ? true : undefined,
      excludePreparingDelete: isExcluding ? true : undefined,
    }),
  });
}

function updateToBeta(strategy: JsonObject | undefined, annotations: JsonObject): JsonObject {
  const { type, ...rolling } = strategy ?? {};
  if (type === "OnDelete") return { updateStrategy: { type: "OnDelete" } };
  const inPlace: JsonObject = { ...objectAt(rolling, "inPlaceUpdateStrategy") };
  for (const [field, annotation] of PRE_DOWNLOAD) {
    const value = annotations[annotation];
    if (typeof value === "string") inPlace[field] = numberOrText(value);
  }
  const rollingUpdate: JsonObject = {
    ...defined({ podUpdatePolicy: type }),
    ...rolling,
    ...omitEmpty({ inPlaceUpdateStrategy: inPlace }),
  };
  if (strategy === undefined && Object.keys(rollingUpdate).length === 0) return {};
  return {
    updateStrategy: omitEmpty({ type: type === undefined ? undefined : "RollingUpdate", rollingUpdate }),
  };
}

const numberOrText = (text: string): Json => (/^\d+$/.test(text) ? Number(text) : text);

/** v1beta1 → v1alpha1. */
export function fromStorage(object: JsonObject): JsonObject {
  return { ...specToAlpha(object), apiVersion: "apps.kruise.io/v1alpha1" };
}

export function specToAlpha(object: JsonObject): JsonObject {
  if (object["spec"] === undefined) return object;
  const { scaleStrategy, updateStrategy, ...rest } = objectAt(object, "spec");
  const { strategy, annotations } = updateToAlpha(isObject(updateStrategy) ? updateStrategy : undefined);
  const metadata = objectAt(object, "metadata");
  return {
    ...object,
    ...defined({
      metadata:
        Object.keys(annotations).length > 0
          ? { ...metadata, annotations: { ...objectAt(metadata, "annotations"), ...annotations } }
          : undefined,
    }),
    spec: {
      ...rest,
      ...scaleToAlpha(isObject(scaleStrategy) ? scaleStrategy : {}),
      ...omitZero({ updateStrategy: strategy }),
    },
  };
}

function scaleToAlpha({ enablePVCReuse, excludePreparingDelete: _lost, ...rest }: JsonObject): JsonObject {
  return { scaleStrategy: enablePVCReuse === true ? rest : { ...rest, disablePVCReuse: true } };
}

function updateToAlpha(updateStrategy: JsonObject | undefined): { strategy?: JsonObject; annotations: JsonObject } {
  const annotations: JsonObject = {};
  if (!updateStrategy) return { annotations };
  if (updateStrategy["type"] === "OnDelete") return { strategy: { type: "OnDelete" }, annotations };
  const { podUpdatePolicy, inPlaceUpdateStrategy, ...rolling } = objectAt(updateStrategy, "rollingUpdate");
  const inPlace: JsonObject = {};
  for (const [field, value] of Object.entries(isObject(inPlaceUpdateStrategy) ? inPlaceUpdateStrategy : {})) {
    const annotation = PRE_DOWNLOAD.get(field);
    if (annotation === undefined) inPlace[field] = value;
    else if (typeof value === "string" || typeof value === "number") annotations[annotation] = String(value);
  }
  const strategy: JsonObject = {
    ...defined({ type: podUpdatePolicy }),
    ...rolling,
    ...defined({
      inPlaceUpdateStrategy:
        isObject(inPlaceUpdateStrategy) &&
        (Object.keys(inPlace).length > 0 || Object.keys(inPlaceUpdateStrategy).length === 0)
          ? inPlace
          : undefined,
    }),
  };
  return { strategy, annotations };
}

let schema: Schema | undefined;

/** The v1alpha1 schema of the published CRD, with fields moved to their place in v1beta1. */
export function v1beta1Schema(): Schema {
  schema ??= deriveSchema(definitionSchema("clonesets.apps.kruise.io", "v1alpha1"));
  return schema;
}

function deriveSchema(alpha: Schema): Schema {
  return withProperties(alpha, { spec: betaSpec(property(alpha, "spec")) });
}

/** Converts the schema of a v1alpha1 spec to v1beta1. */
export function betaSpec(spec: Schema): Schema {
  const update = property(spec, "updateStrategy");
  const scale = property(spec, "scaleStrategy");
  const inPlace = property(update, "inPlaceUpdateStrategy");
  const { disablePVCReuse: _, ...scaleProperties } = scale.properties ?? {};

  const rollingUpdate: Schema = {
    type: "object",
    properties: {
      podUpdatePolicy: { type: "string", enum: ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"] },
      ...Object.fromEntries(MOVED.map((name) => [name, property(update, name)])),
      inPlaceUpdateStrategy: {
        ...inPlace,
        properties: {
          ...inPlace.properties,
          imagePreDownloadParallelism: { "x-kubernetes-int-or-string": true },
          imagePreDownloadTimeoutSeconds: { type: "integer", format: "int32" },
          imagePreDownloadMinUpdatedReadyPods: { type: "integer", format: "int32" },
        },
      },
    },
  };
  return withProperties(spec, {
    scaleStrategy: {
      ...scale,
      properties: {
        ...scaleProperties,
        enablePVCReuse: { type: "boolean" },
        excludePreparingDelete: { type: "boolean" },
      },
    },
    updateStrategy: {
      type: "object",
      properties: { type: { type: "string", enum: ["RollingUpdate", "OnDelete"] }, rollingUpdate },
    },
  });
}

/** With OnDelete, v1beta1 has no rolling update fields. */
const ROLLING = [
  "partition",
  "maxUnavailable",
  "maxSurge",
  "paused",
  "priorityStrategy",
  "scatterStrategy",
  "inPlaceUpdateStrategy",
].map((name) => `spec.updateStrategy.${name}`);

export function missingInVersion(version: string, object: JsonObject): readonly string[] {
  if (version === "v1alpha1") return ["spec.scaleStrategy.excludePreparingDelete"];
  return valueAt(object, "spec.updateStrategy.type") === "OnDelete" ? ROLLING : [];
}
