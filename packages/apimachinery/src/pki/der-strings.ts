/** The character strings of DER, with the alphabets that Go accepts: it is stricter than OpenSSL, which checks none. */
import { isUtf8 } from "node:buffer";
import { DER, DerError, type DerValue } from "./der-reader.ts";

const TYPES: ReadonlySet<number> = new Set([DER.utf8, DER.ia5, DER.numeric, DER.printable, DER.teletex, DER.bmp]);
const NUMERIC = /^[0-9 ]*$/;
/** With `*` and `&`, which certificates have in practice though X.680 does not list them. */
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;

/** Whether `textOf` knows its type. */
export const isText = ({ tag }: DerValue): boolean => TYPES.has(tag);

/** Decodes a string. `what` names it in errors. Throws `DerError` for other types and for characters that its type cannot have. */
export function textOf({ tag, content }: DerValue, what: string): string {
  if (tag === DER.utf8) {
    if (!isUtf8(content)) throw new DerError(`${what} is not UTF-8`);
    return Buffer.from(content).toString();
  }
  if (tag === DER.ia5) return asciiOf(content, what);
  if (tag === DER.numeric)
    return matching(NUMERIC, content, `${what} has characters that NumericString does not allow`);
  if (tag === DER.printable)
    return matching(PRINTABLE, content, `${what} has characters that PrintableString does not allow`);
  // T.61 is read as ISO 8859-1, as OpenSSL and Go do.
  if (tag === DER.teletex) return Buffer.from(content).toString("latin1");
  if (tag === DER.bmp) return bmpOf(content, what);
  throw new DerError(`${what} has an unsupported type; encode it as UTF-8`);
}

export function asciiOf(content: Uint8Array, what: string): string {
  if (content.some((byte) => byte > 0x7f)) throw new DerError(`${what} is not ASCII`);
  return Buffer.from(content).toString("latin1");
}

function matching(alphabet: RegExp, content: Uint8Array, problem: string): string {
  const text = Buffer.from(content).toString("latin1");
  if (!alphabet.test(text)) throw new DerError(problem);
  return text;
}

/** Two bytes per character, the higher one first; surrogates are not characters of this plane. */
function bmpOf(content: Uint8Array, what: string): string {
  if (content.length % 2 !== 0) throw new DerError(`${what} is not a whole number of characters`);
  const text = Buffer.from(content).swap16().toString("utf16le");
  if (/[\ud800-\udfff]/.test(text)) throw new DerError(`${what} has characters that BMPString does not allow`);
  return text;
}
