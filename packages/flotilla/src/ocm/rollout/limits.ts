/** The limits of a rollout strategy: durations and counts. */
import { parseDuration } from "@flotilla/cel";
import { RolloutError } from "./rollout-error.ts";

export const UNLIMITED = Number.POSITIVE_INFINITY;

const NANOS_PER_MS = 1_000_000n;

/** The prefix of a deadline that OCM accepts: no fractions or signs. */
const DEADLINE = /^\d+[hms|]|None$/;

/** A deadline in milliseconds. `None` or an empty value means no deadline. */
export function parseDeadline(text: string | undefined): number {
  if (!text || text === "None") return UNLIMITED;
  if (!DEADLINE.test(text)) throw new RolloutError("invalid timeout format");
  return parseSoak(text);
}

/** The minimum success time in milliseconds. */
export function parseSoak(text: string | undefined): number {
  if (text === undefined) return 0;
  const duration = parseDuration(text);
  if (!duration) throw new RolloutError(`time: invalid duration ${JSON.stringify(text)}`);
  return Number(duration.nanos / NANOS_PER_MS);
}

/**
 * A number of clusters, or a percentage of all, rounded up; at most all of them. A value that is not positive means the
 * default.
 */
export function sizeOf(field: string, value: string | number | undefined, total: number, byDefault: number): number {
  const size = typeof value === "string" ? Math.ceil((percentageOf(field, value) / 100) * total) : (value ?? 0);
  return size > 0 ? Math.min(size, total) : byDefault;
}

function percentageOf(field: string, text: string): number {
  const number = text.endsWith("%") && text.length > 1 ? Number(text.slice(0, -1)) : Number.NaN;
  if (Number.isNaN(number))
    throw new RolloutError(
      `failed to parse the provided ${field}: '${text}' is an invalid maximum threshold value: string is not a percentage`,
    );
  return number;
}
