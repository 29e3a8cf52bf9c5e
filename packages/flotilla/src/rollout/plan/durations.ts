/** Durations of our own kinds, as their schema admits them: `90s`, `1h30m`. */
import { parseGoDurationMs } from "@flotilla/apimachinery";

export const durationMs = (text: string): number => parseGoDurationMs(text) ?? 0;

/** `90 s`, `5 min`, `2 min 30 s`, `2 h`: for sentences. */
export function renderDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return seconds < 7200
    ? renderPair(minutes, "min", seconds % 60, "s")
    : renderPair(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

const renderPair = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;
