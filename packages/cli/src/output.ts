/** A command's output. Results are written to standard output in the requested format; progress to standard error. */
import type { Json } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import { plain } from "./paint.ts";
import type { Paint } from "./paint.ts";

export const FORMATS = ["table", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

export interface Output {
  readonly format: Format;
  /** The columns of a line; unset without a terminal, so that nothing is shortened or wrapped. */
  readonly width: number | undefined;
  /** Colours for human-readable text; no-ops where colours are disabled. */
  readonly paint: Paint;
  /** Rewrites `flotilla …` in a text to the name under which the program was called. */
  called(text: string): string;
  /** A line for people; omitted when data was requested. */
  say(text: string): void;
  /** A note for the user beside the result, in every format. */
  warn(text: string): void;
  /** The result: as data, or as text when no format was requested. */
  result(value: Json, text: () => string): void;
  /**
   * The current step, shown on a terminal when it takes longer than a second, and elsewhere printed now and then when it
   * takes longer than half a minute; an empty text clears it.
   */
  progress(text: string): void;
}

export interface OutputOptions {
  format: Format;
  /** Unset when standard output is not a terminal. */
  width?: number | undefined;
  /** If unset, prints no colours. */
  paint?: Paint;
  /** If unset, texts are unchanged. */
  called?(text: string): string;
  write(text: string): void;
  warn(text: string): void;
  showProgress(text: string): void;
}

export function createOutput(options: OutputOptions): Output {
  const { format, width, paint = plain, called = (text) => text, write, warn, showProgress } = options;
  return {
    format,
    width,
    paint,
    called,
    say(text) {
      if (format === "table") write(`${text}\n`);
    },
    warn: (text) => warn(`${text}\n`),
    result(value, text) {
      showProgress("");
      if (format === "json") write(`${JSON.stringify(value, undefined, 2)}\n`);
      else if (format === "yaml") write(formatYaml(value));
      else write(`${text()}\n`);
    },
    progress: showProgress,
  };
}
