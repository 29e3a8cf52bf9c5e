/** The times of `--since` and `--until`: a duration back from now, a time of day, or a date with a time. Pure. */
import { UsageError } from "@flotilla/base";
import { parseDuration } from "@flotilla/cel";

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/** `1h`, `03:12` (the last one that was, in UTC), `2024-05-01T03:12:00Z`. */
export function readTime(flag: string, text: string, nowMs: number): number {
  const clock = TIME_OF_DAY.exec(text);
  if (clock) {
    const [hours, minutes, seconds] = clock.slice(1).map((part) => Number(part ?? 0)) as [number, number, number];
    const today = new Date(nowMs);
    const ms = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate(), hours, minutes, seconds || 0);
    return ms > nowMs ? ms - 24 * 60 * 60 * 1000 : ms;
  }
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  const duration = parseDuration(text);
  if (!duration)
    throw new UsageError(
      `${flag}: '${text}' is not a time; use a duration (1h), a time of day in UTC (03:12) or a date (2024-05-01T03:12:00Z)`,
    );
  return nowMs - Number(duration.nanos / 1_000_000n);
}
