/** Removes the quotes of string and bytes literals and decodes their escapes. */

/** Meanings of the letter after a backslash. */
export const NAMED_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);
const ESCAPE = /\\(?:([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g;

/** The text between the quotes, and whether it is a raw literal. */
function inside(literal: string): { text: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(literal);
  const quoted = (isRaw ? literal.slice(1) : literal).replaceAll(/\r\n?/g, "\n");
  const width = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  return { text: quoted.slice(width, -width), isRaw };
}

/** The string, or undefined when an escape names no character. */
export function unescapeText(literal: string): string | undefined {
  const { text, isRaw } = inside(literal);
  if (isRaw || !text.includes("\\")) return text;
  let isValid = true;
  const result = text.replaceAll(
    ESCAPE,
    (_, octal?: string, byte?: string, short?: string, long?: string, named?: string) => {
      if (named !== undefined) return NAMED_ESCAPES.get(named) ?? named;
      const code = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) isValid = false;
      return isValid ? String.fromCodePoint(code) : "";
    },
  );
  return isValid ? result : undefined;
}

/**
 * The bytes: text in UTF-8, octal and hexadecimal escapes as the byte they name. Undefined when there is a Unicode
 * escape.
 */
export function unescapeBytes(literal: string): Uint8Array | undefined {
  const { text, isRaw } = inside(literal);
  if (isRaw || !text.includes("\\")) return Buffer.from(text);
  const parts: Buffer[] = [];
  let done = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, octal, byte, short, long, named] = match;
    if (short !== undefined || long !== undefined) return undefined;
    parts.push(Buffer.from(text.slice(done, match.index)));
    if (named === undefined)
      parts.push(Buffer.from([octal === undefined ? Number.parseInt(byte ?? "", 16) : Number.parseInt(octal, 8)]));
    else parts.push(Buffer.from(NAMED_ESCAPES.get(named) ?? named));
    done = match.index + whole.length;
  }
  parts.push(Buffer.from(text.slice(done)));
  return Buffer.concat(parts);
}
