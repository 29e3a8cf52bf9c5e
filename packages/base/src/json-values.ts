/**
 * Counts the values of a JSON text without parsing it. A parsed value takes many times the memory and time of its text:
 * two bytes of `{}` become an object. So texts from outside have a limit on values beside the one on bytes.
 */

/** A text this short has too few values to matter: it is parsed without counting. */
export const COUNT_ABOVE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/**
 * At least as many as the text has: every value but the first follows a comma or an opening bracket. Stops above
 * `limit`. The text need not be valid.
 */
export function countJsonValues(bytes: Uint8Array, limit = Number.MAX_SAFE_INTEGER): number {
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if ((byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) && ++values > limit) return values;
  }
  return values;
}

/**
 * Whether the text has more values than `values`, or an object with more keys than `keys`. Different keys are what
 * makes parsing slow.
 */
export function exceedsJsonLimits(bytes: Uint8Array, { values, keys }: { values: number; keys: number }): boolean {
  /** For each open bracket, the commas directly inside. */
  const commas: number[] = [];
  let count = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++count > values) return true;
      // Only objects are limited: a list starts far below the limit.
      commas.push(byte === OPEN_BRACE ? 1 : Number.NEGATIVE_INFINITY);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) commas.pop();
    else if (byte === COMMA) {
      if (++count > values) return true;
      if (commas.length === 0) continue;
      const inside = (commas.at(-1) ?? 0) + 1;
      if (inside > keys) return true;
      commas[commas.length - 1] = inside;
    }
  }
  return false;
}

/** The place of the quote that ends the string that starts at `start`, or the end of the text. */
export function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
}
