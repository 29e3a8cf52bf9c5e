/**
 * Reads one metadata field from the stored bytes without parsing the rest. After a start the owners and uids of
 * thousands of objects are needed, and parsing them completely took longer than reading them from disk.
 */
import type { Json } from "@flotilla/base";

const METADATA = '"metadata":{';
/** Metadata follows apiVersion and kind. */
const SEARCHED_BYTES = 1024;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Undefined when the metadata does not have the field. Stored values are JSON without spaces, as `encodeObject` writes
 * them.
 */
export function storedMetadataField(value: Uint8Array, field: string): Json | undefined {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const found = bytes.subarray(0, SEARCHED_BYTES).indexOf(METADATA);
  if (found < 0) return undefined;
  for (let at = found + METADATA.length; bytes[at] === QUOTE;) {
    const keyEnd = endOfString(bytes, at);
    const valueStart = keyEnd + 1; // After the colon.
    const valueEnd = endOfValue(bytes, valueStart);
    if (bytes[keyEnd] === COLON && bytes.toString("latin1", at + 1, keyEnd - 1) === field)
      return JSON.parse(bytes.toString("utf8", valueStart, valueEnd)) as Json;
    if (bytes[valueEnd] !== COMMA) return undefined;
    at = valueEnd + 1;
  }
  return undefined;
}

/** The position after the closing quote of the string that begins here. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The position after the value that begins here: the comma or brace that follows it. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACE)) return at;
    else {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
      at++;
    }
  }
  return bytes.length;
}
