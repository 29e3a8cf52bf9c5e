/** Numbers and times for people. Pure. */

const UNITS: readonly [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
];

/** `12s`, `4m`, `3h`, `2d`: how long ago, as kubectl prints ages. */
export function formatAgo(at: string, nowMs: number): string {
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return "";
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}

/** `12.3 GiB` */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value >= 100 || unit === 0 ? Math.round(value) : Math.round(value * 10) / 10} ${units[unit]}`;
}

/** `7/10`; `10` where nothing is known of one side. */
export function formatShare(ready: number, desired: number): string {
  if (ready < 0 && desired < 0) return "–";
  if (desired < 0) return String(ready);
  return `${Math.max(0, ready)}/${desired}`;
}

/** The shell needs quotes around some words. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
