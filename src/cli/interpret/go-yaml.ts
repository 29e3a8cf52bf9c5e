/**
 * Prints YAML byte for byte like Go's library in kubectl and karmadactl, so that results can be compared with theirs
 * and with files they wrote: keys in natural order, the same quoting, long strings folded after column 80.
 */
import { isObject } from "../../base/index.ts";
import type { Json } from "../../base/index.ts";

const BEST_WIDTH = 80;
const STEP = 2;

/** Ends with a line break. */
export function formatGoYaml(value: Json): string {
  if (Array.isArray(value) && value.length > 0) return `${list(value, 0)}\n`;
  if (isObject(value) && Object.keys(value).length > 0) return `${mapping(value, 0)}\n`;
  return `${leaf(value, STEP, 0)}\n`;
}

function mapping(fields: { readonly [key: string]: Json }, indent: number): string {
  const pad = " ".repeat(indent);
  return Object.keys(fields)
    .toSorted(compareKeys)
    .map((key, index) => {
      const name = `${index > 0 ? pad : ""}${keyText(key)}:`;
      const value = fields[key] ?? null;
      if (Array.isArray(value) && value.length > 0) return `${name}\n${pad}${list(value, indent)}`;
      if (isObject(value) && Object.keys(value).length > 0) return `${name}\n${pad}  ${mapping(value, indent + STEP)}`;
      return `${name} ${leaf(value, indent + STEP, indent + keyText(key).length + 2)}`;
    })
    .join("\n");
}

function list(items: readonly Json[], indent: number): string {
  const pad = " ".repeat(indent);
  return items
    .map((item, index) => {
      const dash = `${index > 0 ? pad : ""}- `;
      if (Array.isArray(item) && item.length > 0) return `${dash}${list(item, indent + STEP)}`;
      if (isObject(item) && Object.keys(item).length > 0) return `${dash}${mapping(item, indent + STEP)}`;
      return `${dash}${leaf(item, indent + STEP, indent + STEP)}`;
    })
    .join("\n");
}

/** A scalar or an empty collection. `column` is where it starts, `indent` where its continuation lines start. */
function leaf(value: Json, indent: number, column: number): string {
  if (typeof value === "string") return text(value, indent, column);
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return "[]";
  return isObject(value) ? "{}" : String(value);
}

function number(value: number): string {
  if (Number.isInteger(value) && value < 2 ** 64 && value >= -(2 ** 63)) return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  // Go writes fractions past six digits with an exponent of at least two digits.
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

const WORDS = new Set([
  "",
  "~",
  "null",
  "Null",
  "NULL",
  "y",
  "Y",
  "yes",
  "Yes",
  "YES",
  "true",
  "True",
  "TRUE",
  "on",
  "On",
  "ON",
  "n",
  "N",
  "no",
  "No",
  "NO",
  "false",
  "False",
  "FALSE",
  "off",
  "Off",
  "OFF",
]);
const NOT_TEXT = [
  /^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/,
  /^[-+]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|[0-9][0-9_]*)$/,
  /^[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$/,
  // Base-60 numbers, for older parsers, and dates.
  /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/,
  /^\d{4}-\d{1,2}-\d{1,2}([Tt ]\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?(Z|[-+]\d{2}:\d{2})?)?$/,
];
const isText = (value: string): boolean => !WORDS.has(value) && !NOT_TEXT.some((pattern) => pattern.test(value));

// oxlint-disable-next-line no-control-regex -- exactly the characters that Go's library takes for unprintable.
const SPECIAL = /[\x00-\x09\x0B-\x1F\x7F-\x9F\uFEFF\uFFFE\uFFFF\uD800-\uDFFF]/;
/** Strings that need quotes: indicators, and leading or trailing spaces or breaks. */
const NEEDS_QUOTES = /^(---|\.\.\.)|^[#,[\]{}&*!|>'"%@`]|^[?:-]([ \t]|$)|:([ \t]|$)|[ \t]#|^ | $|[\u2028\u2029]/;

function keyText(key: string): string {
  // Go leaves the merge key unquoted, and then reads it back as something else.
  if (!isText(key) || key === "<<" || key.includes("\n") || SPECIAL.test(key)) return doubleQuoted(key, 0, -Infinity);
  return NEEDS_QUOTES.test(key) ? `'${key.replaceAll("'", "''")}'` : key;
}

function text(value: string, indent: number, column: number): string {
  if (value.includes("\n"))
    return SPECIAL.test(value) || value.endsWith(" ") || value.includes(" \n")
      ? doubleQuoted(value, indent, column)
      : literal(value, indent);
  if (!isText(value) || SPECIAL.test(value)) return doubleQuoted(value, indent, column);
  if (!NEEDS_QUOTES.test(value)) return folded(value, indent, column, true);
  return `'${folded(value.replaceAll("'", "''"), indent, column + 1, false)}'`;
}

function literal(value: string, indent: number): string {
  const hint = /^[ \n]/.test(value) ? String(STEP) : "";
  const chomping = !value.endsWith("\n") ? "-" : value === "\n" || value.endsWith("\n\n") ? "+" : "";
  const lines = (value.endsWith("\n") ? value.slice(0, -1) : value).split("\n");
  return [`|${hint}${chomping}`, ...lines.map((line) => (line === "" ? "" : " ".repeat(indent) + line))].join("\n");
}

/** Folded at the first single space past the width; never at the ends of a quoted string. */
function folded(value: string, indent: number, start: number, isPlain: boolean): string {
  let out = "";
  let column = start;
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? "";
    const isInner = isPlain || (at > 0 && at < value.length - 1);
    if (character === " " && column > BEST_WIDTH && value[at - 1] !== " " && value[at + 1] !== " " && isInner) {
      out += `\n${" ".repeat(indent)}`;
      column = indent;
    } else {
      out += character;
      column += 1;
    }
  }
  return out;
}

const ESCAPES: Readonly<Record<number, string>> = {
  0: "\\0",
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  27: "\\e",
  34: '\\"',
  92: "\\\\",
  0x85: "\\N",
  0xa0: "\\_",
  0x2028: "\\L",
  0x2029: "\\P",
};

function doubleQuoted(value: string, indent: number, start: number): string {
  const characters = Array.from(value);
  let out = '"';
  let column = start + 1;
  for (const [at, character] of characters.entries()) {
    const code = character.codePointAt(0) ?? 0;
    const isInner = at > 0 && at < characters.length - 1;
    if (character === " " && column > BEST_WIDTH && characters[at - 1] !== " " && isInner) {
      const lead = characters[at + 1] === " " ? "\\" : "";
      out += `\n${" ".repeat(indent)}${lead}`;
      column = indent + lead.length;
      continue;
    }
    const written = ESCAPES[code] ?? (SPECIAL.test(character) || code > 0xffff ? escaped(code) : character);
    out += written;
    column += written.length;
  }
  return `${out}"`;
}

function escaped(code: number): string {
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

const LETTER = /^\p{L}$/u;
const DIGITS = /^\p{Nd}*/u;

/** Letters after everything else, and runs of digits by their value. */
function compareKeys(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((character, index) => character !== right[index]);
  const [x, y] = [left[at], right[at]];
  if (at === -1 || y === undefined || x === undefined) return left.length - right.length;
  const [isLetter, otherIsLetter] = [LETTER.test(x), LETTER.test(y)];
  if (isLetter !== otherIsLetter) return isLetter ? 1 : -1;
  if (!isLetter) {
    // A zero counts as a digit of the number it continues.
    const lead = (x === "0" || y === "0") && /[1-9]\d*$/.test(left.slice(0, at).join("")) ? "1" : "";
    const [digits, others] = [left, right].map((each) => DIGITS.exec(each.slice(at).join(""))?.[0] ?? "") as [
      string,
      string,
    ];
    const difference = Number(lead + digits) - Number(lead + others) || digits.length - others.length;
    if (difference !== 0) return difference;
  }
  return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
}
