/**
 * Lua strings are bytes; ours are JavaScript strings that mostly come from JSON. A string is kept as JSON has it; it is
 * converted to *byte text*, one character per byte, and back only where a library function counts or cuts bytes. A byte
 * that is not valid UTF-8 is kept as a lone surrogate U+DC80..U+DCFF, so the conversion is lossless.
 */
const BEYOND_ASCII = /[^\0-\x7f]/;
const LONE_BYTE = 0xdc00;

const isAscii = (text: string): boolean => !BEYOND_ASCII.test(text);

/** One character per byte of the UTF-8 encoding. Plain ASCII is its own byte text. */
export function toBytes(text: string): string {
  if (isAscii(text)) return text;
  if (text.isWellFormed()) return Buffer.from(text, "utf8").toString("latin1");
  let bytes = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes += character;
    else if (code < 0x800) bytes += String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code >= LONE_BYTE + 0x80 && code <= LONE_BYTE + 0xff) bytes += String.fromCharCode(code - LONE_BYTE);
    else if (code < 0x10000)
      bytes += String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else
      bytes += String.fromCharCode(
        0xf0 | (code >> 18),
        0x80 | ((code >> 12) & 0x3f),
        0x80 | ((code >> 6) & 0x3f),
        0x80 | (code & 0x3f),
      );
  }
  return bytes;
}

/** The string that byte text represents. */
export function fromBytes(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  const decoded = Buffer.from(bytes, "latin1").toString("utf8");
  // The replacement character may also have been in the original text.
  if (!decoded.includes("\ufffd")) return decoded;
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const size = sequenceLength(bytes, at);
    if (size === 0) {
      text += String.fromCharCode(LONE_BYTE + bytes.charCodeAt(at));
      at += 1;
      continue;
    }
    text += size === 1 ? bytes[at] : String.fromCodePoint(codePointAt(bytes, at, size));
    at += size;
  }
  return text;
}

/** Whether a string contains bytes that are not UTF-8, so that concatenation may complete a character. */
export const hasLoneBytes = (text: string): boolean => !text.isWellFormed();

export function byteLength(text: string): number {
  if (isAscii(text)) return text.length;
  return text.isWellFormed() ? Buffer.byteLength(text) : toBytes(text).length;
}

/** The number of bytes of the character at a position; 0 if no valid character starts there. */
function sequenceLength(bytes: string, at: number): number {
  const lead = bytes.charCodeAt(at);
  if (lead < 0x80) return 1;
  const size = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  for (let next = 1; next < size; next++) {
    const byte = bytes.charCodeAt(at + next);
    if (!(byte >= 0x80 && byte < 0xc0)) return 0;
  }
  if (size < 3) return size;
  const code = codePointAt(bytes, at, size);
  if (size === 3) return code >= 0x800 && !(code >= 0xd800 && code < 0xe000) ? 3 : 0;
  return code >= 0x10000 && code < 0x110000 ? 4 : 0;
}

function codePointAt(bytes: string, at: number, size: number): number {
  let code = bytes.charCodeAt(at) & (0xff >> (size + 1));
  for (let next = 1; next < size; next++) code = (code << 6) | (bytes.charCodeAt(at + next) & 0x3f);
  return code;
}
