/** Durations of our own kinds: `90s`, `1h30m`. */
const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

export function durationMs(text: string): number {
  let total = 0;
  for (const [, amount = "0", unit = "s"] of text.matchAll(/(\d+)(ms|h|m|s)/g))
    total += Number(amount) * (UNITS_MS[unit] ?? 0);
  return total;
}

/** `90 s`, `5 min`, `2 h`: for sentences. */
export function renderDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
