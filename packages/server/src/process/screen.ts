/** Decides what the terminal of this process can show: its width, and whether it has colours. Pure. */
import { createPaint } from "@flotilla/cli";
import type { Paint } from "@flotilla/cli";

interface Stream {
  isTTY?: boolean;
  columns?: number;
}
type Environment = Readonly<Record<string, string | undefined>>;

/** Narrower than this, wrapping hurts more than it helps. */
const NARROWEST = 40;
/** Longer lines of help are hard to read. */
const WIDEST_HELP = 120;
const USUAL = 80;

/** The columns of a terminal; undefined for a file or pipe, where nothing may be shortened. */
export function widthOf(stream: Stream): number | undefined {
  return stream.isTTY && stream.columns ? Math.max(NARROWEST, stream.columns) : undefined;
}

export function helpWidth(stream: Stream): number {
  return Math.min(WIDEST_HELP, widthOf(stream) ?? USUAL);
}

/** The flag wins, then `FORCE_COLOR` as Node reads it, then `NO_COLOR`, then the terminal's capability. */
export function paintFor(stream: Stream, environment: Environment, options: { noColor: boolean }): Paint {
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: terminal } = environment;
  if (options.noColor) return createPaint(false);
  if (force !== undefined) return createPaint(force !== "0" && force !== "false");
  return createPaint(!none && stream.isTTY === true && terminal !== "dumb");
}
