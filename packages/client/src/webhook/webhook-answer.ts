/** Reads what a webhook answered: JSON of limited depth with a limited number of values, and texts of limited length. */
import { COUNT_ABOVE_BYTES, exceedsJsonLimits, messageOf } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { WebhookError } from "./webhook-error.ts";

/** No manifest needs deeper nesting, which could overflow the stack of recursive code. */
const MAX_DEPTH = 1000;
/**
 * Three times what one request body may have: a conversion answers with a mebibyte of objects. A few bytes of JSON can take
 * a hundred times their size in memory, and a tenant of a logical cluster chooses its webhooks.
 */
const MAX_VALUES = { values: 200_000, keys: 20_000 };

/**
 * Throws `WebhookError` for invalid JSON, too many values or excessive nesting. `what` starts the message. `parse` is for
 * callers that keep integers of 64 bits.
 */
export function parseWebhookJson(
  bytes: Buffer,
  what: string,
  parse: (text: string) => Json = (text) => JSON.parse(text) as Json,
): Json {
  // Checked before parsing: parsing four megabytes of brackets takes half a second.
  if (nestsDeeperThan(MAX_DEPTH, bytes))
    throw new WebhookError("answer", `${what} is nested more than ${MAX_DEPTH} levels deep`);
  if (bytes.length > COUNT_ABOVE_BYTES && exceedsJsonLimits(bytes, MAX_VALUES))
    throw new WebhookError(
      "answer",
      `${what} has more than ${MAX_VALUES.values} values, or more than ${MAX_VALUES.keys} keys in one object`,
    );
  try {
    return parse(bytes.toString("utf8"));
  } catch (error) {
    throw new WebhookError("answer", `${what} is not JSON (${messageOf(error).slice(0, MAX_SHOWN)})`);
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts brackets outside strings. */
function nestsDeeperThan(limit: number, bytes: Buffer): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (isInText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    // With this bit set, [ becomes { and ] becomes }.
    else if (((code ?? 0) | 32) === 123 && ++depth > limit) return true;
    else if (((code ?? 0) | 32) === 125) depth--;
  }
  return false;
}

/** Webhook messages are written to conditions and logs, so they are truncated. */
const MAX_SHOWN = 512;

export function shown(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
