/** Objects as rows for `kubectl get`, and objects reduced to their metadata. */
import type { Column } from "../api/index.ts";
import { isObject } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import { badRequest, compileJsonPath, formatAge } from "../machinery/index.ts";
import type { ServedVersion } from "./resources.ts";
import { textOf } from "./text.ts";

export interface TableOptions {
  includeObject: "None" | "Metadata" | "Object";
  nowMs: number;
}

export function includeObjectOf(query: URLSearchParams): TableOptions["includeObject"] {
  const value = query.get("includeObject") ?? "";
  if (value === "" || value === "Metadata") return "Metadata";
  if (value === "None" || value === "Object") return value;
  throw badRequest(`Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`);
}

const NAME: Column = { name: "Name", type: "string", format: "name", description: "The name of the object, unique among its kind in its namespace." };
const AGE: Column = { name: "Age", type: "date", description: "How long ago the object was created.", jsonPath: ".metadata.creationTimestamp" };

/** Built-in kinds state all of their columns; those of definitions come after the name. */
function columnsOf({ resource, columns }: ServedVersion): readonly Column[] {
  if (resource.kind.builtIn) return columns.length > 0 ? columns : [NAME, AGE];
  return [NAME, ...(columns.length > 0 ? columns : [AGE])];
}

export function tableOf(served: ServedVersion, objects: readonly JsonObject[], metadata: JsonObject, options: TableOptions, withColumns = true): JsonObject {
  const columns = columnsOf(served);
  const cells = columns.map((column) => cellOf(column));
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: withColumns ? columns.map(definitionOfColumn) : null,
    rows: objects.map((object) => ({
      cells: cells.map((cell) => cell(object, options.nowMs)),
      ...(options.includeObject !== "None" && { object: options.includeObject === "Object" ? object : partialMetadata(object) }),
    })),
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
  const path = compileJsonPath(jsonPath);
  return (object, nowMs) => printed(path(object), type, nowMs);
}

/** A value as a cell of its column's type; what does not fit is left empty. */
function printed(found: readonly unknown[], type: Column["type"], nowMs: number): Json {
  const value = found[0];
  if (value === undefined || value === null) return type === "date" ? "<unknown>" : null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date": {
      const time = Date.parse(textOf(value));
      return Number.isNaN(time) ? "<invalid>" : formatAge(nowMs - time);
    }
    default:
      if (found.length > 1) return found.map(textOf).join(" ");
      return textOf(value);
  }
}

export function partialMetadata(object: JsonObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata ?? {} };
}

export function metadataListOf(objects: readonly JsonObject[], metadata: JsonObject): JsonObject {
  return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items: objects.map(partialMetadata) };
}
