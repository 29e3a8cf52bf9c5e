/** Renders objects of many clusters as text: a section for each type, with a CLUSTER column. Pure. */
import type { JsonObject } from "@flotilla/base";
import { fitColumns } from "./fit-columns.ts";
import type { PrintFormat } from "./print-format.ts";
import { alignColumns, cellAt, cellText, harmless, mergeColumns, placesIn } from "./merged-table.ts";
import type { Table, TableColumn, TableRow } from "./merged-table.ts";
import { titleOf } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";
import { CACHED_FROM_CLUSTER } from "@flotilla/karmada";
import { objectOf } from "@flotilla/base";

/** The objects of one type on one cluster. */
interface PlaceTable extends Table {
  cluster: string;
}

export interface TypeSection {
  type: ServedType;
  tables: readonly PlaceTable[];
}

export interface TableStyle {
  isWide: boolean;
  /** The objects are from several namespaces. */
  withNamespace: boolean;
  /** Several types are shown, so names include theirs. */
  withType: boolean;
  showLabels: boolean;
  noHeaders: boolean;
}

/** The non-empty sections, separated by empty lines, and the number of columns that do not fit the terminal. */
export function renderSections(
  sections: readonly TypeSection[],
  style: TableStyle,
  room?: number,
): { text: string; hidden: number } {
  const texts: string[] = [];
  let hidden = 0;
  for (const section of sections.filter(({ tables }) => tables.some(({ rows }) => rows.length > 0))) {
    const { header, rows } = linesOf(section, style);
    const shown = room === undefined || style.isWide ? [...header.keys()] : fitColumns(header, rows, room);
    hidden += header.length - shown.length;
    const fitted = (style.noHeaders ? rows : [header, ...rows]).map((row) => shown.map((column) => row[column] ?? ""));
    texts.push(alignColumns(fitted, [], room).join("\n"));
  }
  return { text: texts.join("\n\n"), hidden };
}

function linesOf({ type, tables }: TypeSection, style: TableStyle): { header: string[]; rows: string[][] } {
  const filled = tables.filter(({ rows }) => rows.length > 0);
  const columns = shownColumns(mergeColumns(filled.map((table) => table.columns)), style);
  const rows = filled.flatMap(({ cluster, columns: theirs, rows: theirRows }) => {
    const places = placesIn(columns, theirs);
    return theirRows.map((row) => rowCells({ type, cluster, row, columns, places, style }));
  });
  return { header: headerOf(columns, style, type), rows };
}

export function shownColumns(columns: readonly TableColumn[], { isWide }: Pick<TableStyle, "isWide">): TableColumn[] {
  return columns.filter(({ priority }) => isWide || priority === 0);
}

export function headerOf(
  columns: readonly TableColumn[],
  { withNamespace, showLabels }: TableStyle,
  type: ServedType,
): string[] {
  return [
    "CLUSTER",
    ...(withNamespace && type.scope === "Namespaced" ? ["NAMESPACE"] : []),
    ...columns.map(({ name }) => name.toUpperCase()),
    ...(showLabels ? ["LABELS"] : []),
  ];
}

interface RowInput {
  type: ServedType;
  cluster: string;
  row: TableRow;
  columns: readonly TableColumn[];
  places: readonly number[];
  style: TableStyle;
}

export function rowCells(input: RowInput): string[] {
  const { type, cluster, row, columns, places, style } = input;
  const labels = Object.entries(row.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  return [
    cluster,
    ...(style.withNamespace && type.scope === "Namespaced" ? [row.namespace] : []),
    ...columns.map(
      ({ isName }, index) => (isName && style.withType ? `${titleOf(type)}/` : "") + cellAt(row, places[index] ?? -1),
    ),
    ...(style.showLabels ? [harmless(labels) || "<none>"] : []),
  ];
}

/** The object annotated with the cluster that it was read from. */
export function marked(object: JsonObject, cluster: string): JsonObject {
  const metadata = objectOf(object["metadata"]);
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...objectOf(metadata["annotations"]), [CACHED_FROM_CLUSTER]: cluster } },
  };
}

export interface PlacedObject {
  cluster: string;
  type: ServedType;
  object: JsonObject;
}

/** `member1 pod/web-1`: two words, for shell scripts. */
export function nameLine({ cluster, type, object: { metadata } }: PlacedObject): string {
  return `${cluster} ${titleOf(type)}/${cellText(objectOf(metadata)["name"])}`;
}

export function renderColumns(
  objects: readonly PlacedObject[],
  { columns }: Extract<PrintFormat, { as: "columns" }>,
  noHeaders: boolean,
  room?: number,
): string {
  const rows = objects.map(({ cluster, object }) => [cluster, ...columns.map(({ cell }) => cellText(cell(object)))]);
  return alignColumns(noHeaders ? rows : [["CLUSTER", ...columns.map(({ header }) => header)], ...rows], [], room).join(
    "\n",
  );
}

/** A List, as kubectl prints several objects. */
export function listOf(objects: readonly PlacedObject[]): JsonObject {
  return {
    apiVersion: "v1",
    kind: "List",
    metadata: { resourceVersion: "" },
    items: objects.map(({ cluster, object }) => marked(object, cluster)),
  };
}
