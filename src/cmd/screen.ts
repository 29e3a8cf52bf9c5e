/**
 * What the terminal of this process can show: how wide it is, and whether it has colours. The only place that decides.
 * Pure.
 */
import { createPaint } from "../cli/index.ts";
import type { Paint } from "../cli/index.ts";

interface Stream {
  isTTY?: boolean;
  columns?: number;
}
type Environment = Readonly<Record<string, string | undefined>>;

/** Narrower than this, wrapping hurts more than it helps. */
const NARROWEST = 40;
/** Lines of help that are longer are hard to read. */
const WIDEST_HELP = 120;
const USUAL = 80;

/** The columns of a terminal; undefined where output goes into a file or a pipe, in which nothing may be shortened. */
export function widthOf(stream: Stream): number | undefined {
  return stream.isTTY && stream.columns ? Math.max(NARROWEST, stream.columns) : undefined;
}

export function helpWidth(stream: Stream): number {
  return Math.min(WIDEST_HELP, widthOf(stream) ?? USUAL);
}

/** The flag comes first, then `FORCE_COLOR` as Node reads it, then `NO_COLOR`, then what the terminal is. */
export function paintFor(stream: Stream, environment: Environment, options: { noColor: boolean }): Paint {
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: terminal } = environment;
  if (options.noColor) return createPaint(false);
  if (force !== undefined) return createPaint(force !== "0" && force !== "false");
  return createPaint(!none && stream.isTTY === true && terminal !== "dumb");
}
