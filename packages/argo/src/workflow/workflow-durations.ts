/** Durations in Workflows: whole seconds, or numbers with units (`1h30m`, `500ms`). */
import { parseGoDurationMs } from "@flotilla/apimachinery";

/** Milliseconds, or undefined if it cannot be parsed. */
export function parseDurationMs(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  return /^\d/.test(text) ? parseGoDurationMs(text) : undefined;
}

/** `1 minute 5 seconds`, the format in messages. */
export function describeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), "hour"],
    [Math.floor(seconds / 60) % 60, "minute"],
    [seconds % 60, "second"],
  ] as const;
  const reported = parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`);
  return reported.length > 0 ? reported.join(" ") : "0 seconds";
}
