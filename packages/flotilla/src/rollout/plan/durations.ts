/** Durations of our own kinds, as their schema admits them: `90s`, `1h30m`. */
import { parseGoDurationMs } from "@flotilla/apimachinery";

export const durationMs = (text: string): number => parseGoDurationMs(text) ?? 0;

/** `90 s`, `5 min`, `2 h`: for sentences. */
export function renderDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
