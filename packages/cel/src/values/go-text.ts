/** Strings and numbers as Go formats them in messages. */

/** Characters that Go escapes with a letter after a backslash, and the two that a quoted string must escape. */
export const GO_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/** A string in double quotes; non-printable characters are escaped. */
export function goQuote(text: string): string {
  return `"${Array.from(text, quoteCharacter).join("")}"`;
}

function quoteCharacter(character: string): string {
  const named = GO_ESCAPES.get(character);
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Longer fractions are cut: no meaningful format has them. */
const MAX_FRACTION = 1000;

/** A number with this many fraction digits; a tie rounds to even. */
export function fixed(value: number, digits: number): string {
  const count = Math.min(digits, MAX_FRACTION);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e21) return `${sign}${BigInt(magnitude)}${count > 0 ? `.${"0".repeat(count)}` : ""}`;
  const precise = Math.min(count, 60);
  const text = isTie(magnitude, precise) ? toEven(magnitude, precise) : magnitude.toFixed(precise);
  return sign + text + "0".repeat(count - precise);
}

function isTie(value: number, digits: number): boolean {
  return /^50*$/.test(
    value
      .toFixed(Math.min(100, digits + 40))
      .split(".")[1]
      ?.slice(digits) ?? "",
  );
}

function toEven(value: number, digits: number): string {
  const down = value
    .toFixed(digits + 1)
    .slice(0, -1)
    .replace(/\.$/, "");
  return /[13579]$/.test(down) ? value.toFixed(digits) : down;
}
