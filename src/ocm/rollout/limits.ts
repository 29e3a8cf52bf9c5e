/** The numbers of a rollout strategy: how long to wait, and how many. */
import { parseDuration } from "../../machinery/index.ts";
import { RolloutError } from "./rollout-error.ts";

export const UNLIMITED = Number.POSITIVE_INFINITY;

const NANOS_PER_MS = 1_000_000n;

/** A deadline or a soak time in milliseconds. `None`, and nothing, mean that it never ends. */
export function parsePatience(text: string | undefined): number {
  if (!text || text === "None") return UNLIMITED;
  const duration = parseDuration(text);
  if (!duration) throw new RolloutError(text.match(/^\d+[hms|]/) ? `time: invalid duration ${JSON.stringify(text)}` : "invalid timeout format");
  return Number(duration.nanos / NANOS_PER_MS);
}

/** A number of clusters, or a percentage of all that is rounded up; at most all of them. What is not above zero means the default. */
export function sizeOf(field: string, value: string | number | undefined, total: number, byDefault: number): number {
  const size = typeof value === "string" ? Math.ceil((percentageOf(field, value) / 100) * total) : (value ?? 0);
  return size > 0 ? Math.min(size, total) : byDefault;
}

function percentageOf(field: string, text: string): number {
  const number = text.endsWith("%") && text.length > 1 ? Number(text.slice(0, -1)) : Number.NaN;
  if (Number.isNaN(number)) throw new RolloutError(`failed to parse the provided ${field}: '${text}' is an invalid maximum threshold value: string is not a percentage`);
  return number;
}
