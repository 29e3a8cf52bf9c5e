/** Where a command writes. Results go to standard output in the format that was asked for; progress to standard error. */
import type { Json } from "../base/index.ts";
import { formatYaml } from "../machinery/index.ts";

export const FORMATS = ["table", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

export interface Output {
  readonly format: Format;
  /** A line for people; left out when data was asked for. */
  say(text: string): void;
  /** Something that people should know beside the result, whatever its format. */
  warn(text: string): void;
  /** The result: data, or its text form when no format was asked for. */
  result(value: Json, text: () => string): void;
  /** What is being done, on a terminal and when it takes longer than a second; an empty text ends it. */
  progress(text: string): void;
}

export function createOutput(options: { format: Format; write(text: string): void; warn(text: string): void; showProgress(text: string): void }): Output {
  const { format, write, warn, showProgress } = options;
  return {
    format,
    say(text) {
      if (format === "table") write(`${text}\n`);
    },
    warn: (text) => warn(`${text}\n`),
    result(value, text) {
      if (format === "json") write(`${JSON.stringify(value, undefined, 2)}\n`);
      else if (format === "yaml") write(formatYaml(value));
      else write(`${text()}\n`);
    },
    progress: showProgress,
  };
}

/** Columns as kubectl pads them, or closer. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[], gap = 3): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd((widths[column] ?? 0) + gap)).join("").trimEnd()).join("\n");
}
