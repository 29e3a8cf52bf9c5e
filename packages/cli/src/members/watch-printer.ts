/** Prints watch events line by line under one header. */
import type { Clock, JsonObject } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import type { Output } from "../output.ts";
import { fitColumns, hiddenNote } from "./fit-columns.ts";
import type { PrintFormat } from "./print-format.ts";
import { headerOf, marked, nameLine, rowCells, shownColumns } from "./render-get.ts";
import type { TableStyle } from "./render-get.ts";
import { alignColumns, cellText, placesIn, readTable } from "./merged-table.ts";
import type { TableColumn } from "./merged-table.ts";
import type { Terminal } from "../terminal.ts";
import type { WatchedEvent, Watching } from "./watch-objects.ts";
import { textOf, objectOf, objectsOf } from "@flotilla/base";

export interface WatchPrinterOptions {
  withNamespace: boolean;
  showEvents: boolean;
  showLabels: boolean;
  noHeaders: boolean;
}

export function createWatchPrinter(
  format: PrintFormat,
  options: WatchPrinterOptions,
  tools: { output: Output; terminal: Pick<Terminal, "write">; clock: Clock },
): Pick<Watching, "identify" | "show"> {
  return format.as === "table" ? tablePrinter(format.isWide, options, tools) : objectPrinter(format, options, tools);
}

function tablePrinter(
  isWide: boolean,
  { showEvents, ...options }: WatchPrinterOptions,
  { output, clock }: { output: Output; clock: Clock },
): Pick<Watching, "identify" | "show"> {
  const style: TableStyle = { ...options, isWide, withType: false };
  // The longest event type fits from the start.
  const widths: number[] = showEvents ? ["MODIFIED".length] : [];
  /** The first table defines the columns; columns that only others have are omitted. */
  let shown: TableColumn[] | undefined;
  /** The indexes of the cells that fit the terminal. */
  let fitting: number[] | undefined;
  /** A watch names its columns only in its first event. */
  const columnsOf = new Map<string, readonly TableColumn[]>();
  return {
    identify: (answer) => readTable(answer, 0).rows,
    show({ place, type, change, answer, isChanged }) {
      const table = readTable(answer, clock.now(), columnsOf.get(place.name));
      columnsOf.set(place.name, table.columns);
      const rows = table.rows.filter(({ uid }) => isChanged(uid));
      if (rows.length === 0) return Promise.resolve();
      const isFirst = shown === undefined;
      const columns = (shown ??= shownColumns(table.columns, style));
      const places = placesIn(columns, table.columns);
      const lines = rows.map((row) => [
        ...(showEvents ? [change] : []),
        ...rowCells({ type, cluster: place.name, row, columns, places, style }),
      ]);
      const header = [...(showEvents ? ["EVENT"] : []), ...headerOf(columns, style, type)];
      if (isFirst && output.width !== undefined && !isWide) {
        fitting = fitColumns(header, lines, output.width);
        if (fitting.length < header.length) output.say(output.paint.dim(hiddenNote(header.length - fitting.length)));
      }
      if (isFirst && !style.noHeaders) lines.unshift(header);
      const cells = fitting ?? [...header.keys()];
      const fitted = lines.map((line) => cells.map((column) => line[column] ?? ""));
      for (const line of alignColumns(fitted, widths, output.width)) output.say(line);
      return Promise.resolve();
    },
  };
}

/** Each object separately, one after the other. */
function objectPrinter(
  format: Exclude<PrintFormat, { as: "table" }>,
  { noHeaders, showEvents }: WatchPrinterOptions,
  { output, terminal }: { output: Output; terminal: Pick<Terminal, "write"> },
): Pick<Watching, "identify" | "show"> {
  const widths: number[] = [];
  let isFirst = true;
  const show = async ({ place, type, change }: WatchedEvent, object: JsonObject): Promise<void> => {
    const found = marked(object, place.name);
    const value = showEvents ? { type: change, object: found } : found;
    if (format.as === "json") await terminal.write(`${JSON.stringify(value, undefined, 2)}\n`);
    else if (format.as === "yaml") await terminal.write(`---\n${formatYaml(value)}`);
    else if (format.as === "template") await terminal.write(format.render(value));
    else if (format.as === "columns") {
      if (isFirst && !noHeaders)
        for (const line of alignColumns([["CLUSTER", ...format.columns.map(({ header }) => header)]], widths))
          output.say(line);
      for (const line of alignColumns(
        [[place.name, ...format.columns.map(({ cell }) => cellText(cell(object)))]],
        widths,
      ))
        output.say(line);
    } else output.say(nameLine({ cluster: place.name, type, object }));
    isFirst = false;
  };
  return {
    identify: (answer) => itemsOf(answer).map(identityOf),
    async show(event) {
      const { group, version, kind } = event.type;
      for (const object of itemsOf(event.answer))
        if (event.isChanged(identityOf(object).uid))
          await show(event, { apiVersion: group ? `${group}/${version}` : version, kind, ...object });
    },
  };
}

const itemsOf = (answer: JsonObject): JsonObject[] =>
  Array.isArray(answer["items"]) ? objectsOf(answer["items"]) : [answer];

function identityOf({ metadata }: JsonObject): { uid: string; resourceVersion: string } {
  const { uid, resourceVersion } = objectOf(metadata);
  return { uid: textOf(uid), resourceVersion: textOf(resourceVersion) };
}
