/**
 * Where a command writes. Results go to standard output in the format that was asked for; progress to standard error.
 */
import type { Json } from "../base/index.ts";
import { formatYaml } from "../machinery/index.ts";
import { plain } from "./paint.ts";
import type { Paint } from "./paint.ts";

export const FORMATS = ["table", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

export interface Output {
  readonly format: Format;
  /** How many columns a line may have; unset where no terminal shows it, so that nothing is shortened or wrapped. */
  readonly width: number | undefined;
  /** Colours, for text that people read; they do nothing where colours are not wanted. */
  readonly paint: Paint;
  /** A text that tells people what to type, `flotilla …`, with our name as they called us. */
  called(text: string): string;
  /** A line for people; left out when data was asked for. */
  say(text: string): void;
  /** Something that people should know beside the result, whatever its format. */
  warn(text: string): void;
  /** The result: data, or its text form when no format was asked for. */
  result(value: Json, text: () => string): void;
  /** What is being done, on a terminal and when it takes longer than a second; an empty text ends it. */
  progress(text: string): void;
}

export interface OutputOptions {
  format: Format;
  /** Unset when standard output is not a terminal. */
  width?: number | undefined;
  /** Unset prints no colours. */
  paint?: Paint;
  /** Unset is as `flotilla`. */
  called?(text: string): string;
  write(text: string): void;
  warn(text: string): void;
  showProgress(text: string): void;
}

export function createOutput({
  format,
  width,
  paint = plain,
  called = (text) => text,
  write,
  warn,
  showProgress,
}: OutputOptions): Output {
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
