/** Batches of log lines that wait for a page. Pure. */
import type { LogsMessage } from "@flotilla/web";

/** As many as a busy workload writes in a second; a page keeps 5,000. */
export const MAX_WAITING_LINES = 2_000;
/** A line has up to 4 KiB. */
export const MAX_WAITING_CHARACTERS = 1024 * 1024;

/** One batch instead of two. The newest lines stay; lines that do not fit are counted as lost. */
export function mergeBatches(earlier: LogsMessage, later: LogsMessage): LogsMessage {
  const lines = [...earlier.lines, ...later.lines];
  let start = lines.length;
  let characters = 0;
  while (start > 0 && lines.length - start < MAX_WAITING_LINES) {
    characters += lines[start - 1]?.text.length ?? 0;
    if (characters > MAX_WAITING_CHARACTERS) break;
    start -= 1;
  }
  return {
    lines: lines.slice(start),
    lost: earlier.lost + later.lost + start,
    notes: later.notes,
    sources: later.sources,
  };
}
