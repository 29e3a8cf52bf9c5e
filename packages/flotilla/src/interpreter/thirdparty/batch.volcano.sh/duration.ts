/** Durations as Go writes them, such as `1h2m3.5s`, in seconds. */
const SECONDS: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  µs: 1e-6,
  μs: 1e-6,
  us: 1e-6,
  ns: 1e-9,
};
/** The longest 64-bit duration has 26 characters. */
const MAX_LENGTH = 64;
const PART = /([\d.]+)([hmsµμun]s?)/g;

/** A bare number is in seconds. An invalid duration is zero. */
export function secondsOf(duration: unknown): number {
  if (typeof duration === "number") return duration;
  if (typeof duration !== "string" || duration.length > MAX_LENGTH) return 0;
  let total = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(duration); part; part = PART.exec(duration))
    total += (Number(part[1]) || 0) * (SECONDS[part[2] ?? ""] ?? 0);
  return total > 0 ? total : Number(duration) || 0;
}
