/** Reads server-side tables from several clusters, whose versions may have different columns, and merges them. Pure. */
import type { Json, JsonObject } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import { textOf, objectOf, objectsOf } from "@flotilla/base";

/** A server without table support returns the objects. */
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

export interface TableColumn {
  name: string;
  /** 0 is always shown. */
  priority: number;
  isName: boolean;
}

export interface TableRow {
  cells: readonly string[];
  namespace: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  uid: string;
  resourceVersion: string;
}

export interface Table {
  columns: readonly TableColumn[];
  rows: TableRow[];
}

const NO_VALUE = "<none>";

/** From a Table, a list or one object. `known` are the columns of a watch, whose later events do not repeat them. */
export function readTable(answer: JsonObject, nowMs: number, known?: readonly TableColumn[]): Table {
  if (answer["kind"] !== "Table") return plainTable(answer, nowMs);
  const given = objectsOf(answer["columnDefinitions"]).map(({ name, priority, format }) => ({
    name: textOf(name),
    priority: typeof priority === "number" ? priority : 0,
    isName: format === "name",
  }));
  const rows = objectsOf(answer["rows"]).map(({ cells, object }) => ({
    cells: Array.isArray(cells) ? cells.map(cellText) : [],
    ...identityOf(objectOf(object)),
  }));
  return { columns: given.length > 0 ? given : (known ?? []), rows };
}

const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", priority: 0, isName: true },
  { name: "Age", priority: 0, isName: false },
];

function plainTable(answer: JsonObject, nowMs: number): Table {
  const items = Array.isArray(answer["items"]) ? objectsOf(answer["items"]) : [answer];
  return {
    columns: PLAIN_COLUMNS,
    rows: items.map((item) => {
      const identity = identityOf(item);
      const created = textOf(objectOf(item["metadata"])["creationTimestamp"]);
      return { cells: [identity.name, formatAge(nowMs - Date.parse(created))], ...identity };
    }),
  };
}

function identityOf({ metadata }: JsonObject): Omit<TableRow, "cells"> {
  const meta = objectOf(metadata);
  const labels = objectOf(meta["labels"]);
  return {
    namespace: textOf(meta["namespace"]),
    name: textOf(meta["name"]),
    uid: textOf(meta["uid"]),
    resourceVersion: textOf(meta["resourceVersion"]),
    labels: labels as Record<string, string>,
  };
}

/** One line without control characters: names and messages are controlled by the member. */
export function cellText(value: Json | undefined): string {
  if (value === null || value === undefined) return NO_VALUE;
  const text = typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
  const end = text.search(/[\r\n]/);
  return harmless(end < 0 ? text : `${text.slice(0, end)}...`);
}

// oxlint-disable-next-line no-control-regex
export const harmless = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?");

/** The columns of all tables, each once: a column that only some have comes after the one that it follows there. */
export function mergeColumns(tables: readonly (readonly TableColumn[])[]): TableColumn[] {
  const merged: TableColumn[] = [];
  for (const columns of new Set(tables)) {
    let place = 0;
    for (const column of columns) {
      const index = merged.findIndex(({ name }) => name === column.name);
      const known = merged[index];
      if (known) {
        merged[index] = { ...known, priority: Math.min(known.priority, column.priority) };
        place = index + 1;
      } else merged.splice(place++, 0, column);
    }
  }
  return merged;
}

/** The index of each merged column in a table; -1 where it is missing. */
export function placesIn(merged: readonly TableColumn[], columns: readonly TableColumn[]): number[] {
  return merged.map(({ name }) => columns.findIndex((column) => column.name === name));
}

export const cellAt = (row: TableRow, index: number): string => (index < 0 ? NO_VALUE : (row.cells[index] ?? NO_VALUE));

/**
 * Lines with columns as wide as their widest cell, and at least as wide as `widths`, which is updated for later lines.
 * On a narrow terminal columns move closer.
 */
export function alignColumns(rows: readonly (readonly string[])[], widths: number[] = [], room?: number): string[] {
  for (const row of rows) {
    row.forEach((cell, column) => {
      if (cell.length > (widths[column] ?? 0)) widths[column] = cell.length;
    });
  }
  const taken = widths.reduce((sum, width) => sum + width, 0);
  const gap =
    room === undefined ? GAP : Math.min(GAP, Math.max(1, Math.floor((room - taken) / Math.max(1, widths.length - 1))));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + gap)))
      .join("")
      .trimEnd(),
  );
}

/** kubectl's padding. */
const GAP = 3;
