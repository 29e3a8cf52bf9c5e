/** Objects as Table rows for `kubectl get`, and objects reduced to their metadata. */
import { ApiError, badRequest, compileJsonPath, formatAge, formatJson, formatNumber } from "@flotilla/apimachinery";
import type { Column, JsonPath } from "@flotilla/apimachinery";
import { isLongInteger, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Representation } from "../request/negotiate.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";

export interface TableOptions {
  includeObject: "None" | "Metadata" | "Object";
  nowMs: number;
  /** The requested version of `meta.k8s.io`; unset is v1. */
  version?: Representation["version"];
}

export function includeObjectOf(query: URLSearchParams): TableOptions["includeObject"] {
  const value = query.get("includeObject") ?? "";
  if (value === "" || value === "Metadata") return "Metadata";
  if (value === "None" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const NAME: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "The name of the object, unique among its kind in its namespace.",
};
const AGE: Column = {
  name: "Age",
  type: "date",
  description: "How long ago the object was created.",
  jsonPath: ".metadata.creationTimestamp",
};

/** Built-in kinds define all of their columns; those of CRDs come after the name. */
function columnsOf({ resource, columns }: ServedVersion): readonly Column[] {
  if (resource.kind.builtIn) return columns.length > 0 ? columns : [NAME, AGE];
  return [NAME, ...(columns.length > 0 ? columns : [AGE])];
}

export function tableOf(
  served: ServedVersion,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  options: TableOptions,
  withColumns = true,
): JsonObject {
  const columns = columnsOf(served);
  const cells = columns.map((column) => cellOf(column));
  const { version = "v1" } = options;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: withColumns ? columns.map(definitionOfColumn) : null,
    rows: objects.map((object) => ({
      cells: cells.map((cell) => cell(object, options.nowMs)),
      ...rowConditions(served, object),
      object:
        options.includeObject === "None"
          ? null
          : options.includeObject === "Object"
            ? object
            : partialMetadata(object, version),
    })),
  };
}

const COMPLETED: Readonly<Record<string, JsonObject>> = {
  Succeeded: { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
  Failed: { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
};

/** A row's conditions report completion; of the built-in kinds only pods have them. */
function rowConditions({ resource: { kind } }: ServedVersion, { status }: JsonObject): { conditions?: JsonObject[] } {
  if (kind.kind !== "Pod" || !kind.builtIn || !isObject(status)) return {};
  const phase = textOf(status.phase);
  const condition = Object.hasOwn(COMPLETED, phase) ? COMPLETED[phase] : undefined;
  return condition ? { conditions: [condition] } : {};
}

/** A bookmark has no cells; its content is in the metadata of its row. */
export function bookmarkTable(
  served: ServedVersion,
  bare: JsonObject,
  { includeObject, version = "v1" }: TableOptions,
  withColumns: boolean,
): JsonObject {
  const { resourceVersion = "", annotations } = bare.metadata as JsonObject;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: { resourceVersion },
    columnDefinitions: withColumns ? columnsOf(served).map(definitionOfColumn) : null,
    // The end of the initial events is marked even for clients that request no objects.
    rows: [
      {
        cells: [],
        object:
          includeObject === "None" && !annotations
            ? null
            : includeObject === "Object"
              ? bare
              : partialMetadata(bare, version),
      },
    ],
  };
}

function definitionOfColumn({ name, type, format = "", description = "", priority = 0 }: Column): JsonObject {
  return { name, type, format, description, priority };
}

type Cell = (object: JsonObject, nowMs: number) => Json;

function cellOf(column: Column): Cell {
  if (column === NAME) return ({ metadata }) => (isObject(metadata) ? (metadata.name ?? "") : "");
  const { value, type, jsonPath } = column;
  if (value) return (object, nowMs) => value(object, nowMs);
  if (jsonPath === undefined) return () => null;
  const path = compiledPath(jsonPath);
  return path ? (object, nowMs) => printed(path(object) as Json[], type, nowMs) : () => null;
}

/** A CRD may contain an invalid path; only its own column stays empty. */
function compiledPath(path: string): JsonPath | undefined {
  try {
    return compileJsonPath(path);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * A value as a cell of its column's type; a value of another type is left empty. Of several values the first is shown.
 */
function printed([value]: readonly Json[], type: Column["type"], nowMs: number): Json {
  if (value === undefined) return null;
  if (value === null) return type === "string" ? "<no value>" : null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : isLongInteger(value) ? value : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? printedTime(value, nowMs) : null;
    default:
      if (typeof value === "string") return value;
      return typeof value === "number" ? formatNumber(value) : formatJson(value);
  }
}

function printedTime(text: string, nowMs: number): string {
  if (text === "" || text === "null") return "<unknown>";
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? "<invalid>" : formatAge(nowMs - time);
}

export function partialMetadata(object: JsonObject, version: Representation["version"] = "v1"): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, ...metadataOnly(object) };
}

/** The metadata of an object as it is served without the rest. */
export function metadataOnly(object: JsonObject): JsonObject {
  return { metadata: object.kind === "DaemonSet" ? ownMetadata(object) : (object.metadata ?? {}) };
}

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

/**
 * The annotation with a DaemonSet's template generation is a field upstream, and appears in the metadata of whole
 * objects only.
 */
function ownMetadata({ metadata }: JsonObject): JsonObject {
  const { annotations, ...rest } = isObject(metadata) ? metadata : {};
  if (!isObject(annotations)) return rest;
  const { [TEMPLATE_GENERATION]: _, ...others } = annotations;
  return Object.keys(others).length > 0 ? { ...rest, annotations: others } : rest;
}

export function metadataListOf(
  objects: readonly JsonObject[],
  metadata: JsonObject,
  version: Representation["version"] = "v1",
): JsonObject {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.map((object) => partialMetadata(object, version)),
  };
}
