/** The numbers of a rollout strategy: how long to wait, and how many. */
import { parseDuration } from "../../machinery/index.ts";
import { RolloutError } from "./rollout-error.ts";

export const UNLIMITED = Number.POSITIVE_INFINITY;

const NANOS_PER_MS = 1_000_000n;

/** What a deadline begins with, as OCM reads it: fractions and signs are none. */
const DEADLINE = /^\d+[hms|]|None$/;

/** A deadline in milliseconds. `None`, and nothing, mean that there is none. */
export function parseDeadline(text: string | undefined): number {
  if (!text || text === "None") return UNLIMITED;
  if (!DEADLINE.test(text)) throw new RolloutError("invalid timeout format");
  return parseSoak(text);
}

/** How long a success has to last, in milliseconds. */
export function parseSoak(text: string | undefined): number {
  if (text === undefined) return 0;
  const duration = parseDuration(text);
  if (!duration) throw new RolloutError(`time: invalid duration ${JSON.stringify(text)}`);
  return Number(duration.nanos / NANOS_PER_MS);
}

/**
 * A number of clusters, or a percentage of all that is rounded up; at most all of them. What is not above zero means
 * the default.
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
