/**
 * `"%d of %s".format([1, "x"])`. The clauses are parsed in one place, for the call itself and for checking calls with
 * literal arguments.
 */
import { itemsOf } from "../values/collections.ts";
import { toText } from "../values/conversions.ts";
import { fixed, goQuote } from "../values/go-text.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  isInt,
  typeNameOf,
} from "../values/values.ts";

export type Clause = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";
const CLAUSES = new Set("sdfebxXo");
const DEFAULT_DIGITS = 6;

/** The replacement of each clause; an error ends formatting. */
type Render = (index: number, clause: Clause, digits: number | undefined) => string | CelError;

const badClause = (why: string): CelError => new CelError(`could not parse formatting clause: ${why}`);

/** Parses a format and renders it. `count` is the number of arguments. */
export function interpolate(text: string, count: number, render: Render): string | CelError {
  let result = "";
  let argument = 0;
  let position = 0;
  for (;;) {
    const percent = text.indexOf("%", position);
    if (percent < 0) return result + text.slice(position);
    result += text.slice(position, percent);
    if (text[percent + 1] === "%") {
      result += "%";
      position = percent + 2;
      continue;
    }
    if (percent + 1 >= text.length) return new CelError("unexpected end of string");
    if (argument >= count) return new CelError(`index ${argument} out of range`);
    const clause = readClause(text, percent + 1);
    if (clause instanceof CelError) return clause;
    const rendered = render(argument, clause.clause, clause.digits);
    if (rendered instanceof CelError) return rendered;
    result += rendered;
    argument += 1;
    position = clause.end;
  }
}

/** The number of arguments that a valid format requires. */
export function argumentsWanted(text: string): number {
  let count = 0;
  interpolate(text, Infinity, () => {
    count += 1;
    return "";
  });
  return count;
}

function readClause(
  text: string,
  start: number,
): { clause: Clause; digits: number | undefined; end: number } | CelError {
  let end = start;
  let digits: number | undefined;
  if (text[start] === ".") {
    const number = /^\d*/.exec(text.slice(start + 1))?.[0] ?? "";
    end += 1 + number.length;
    if (end >= text.length)
      return badClause("error while parsing precision: could not find end of precision specifier");
    if (number === "")
      return badClause(
        'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
      );
    digits = Number(number);
  }
  const clause = text[end] ?? "";
  if (!CLAUSES.has(clause)) return badClause(`unrecognized formatting clause "${clause}"`);
  return { clause: clause as Clause, digits, end: end + 1 };
}

const failed = (why: string): CelError => new CelError(`error during formatting: ${why}`);

/** The error for a clause that does not support a type. */
export function clauseError(clause: Clause, type: string): CelError {
  return failed(`${REASONS.get(clause === "X" ? "x" : clause) ?? ""}, was given ${type}`);
}

const REASONS: ReadonlyMap<string, string> = new Map([
  [
    "s",
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  ],
  ["d", "decimal clause can only be used on integers"],
  ["f", "fixed-point clause can only be used on doubles"],
  ["e", "scientific clause can only be used on doubles"],
  ["b", "only integers and bools can be formatted as binary"],
  ["x", "only integers, byte buffers, and strings can be formatted as hex"],
  ["o", "octal clause can only be used on integers"],
]);

export function format(text: string, args: CelList): CelValue {
  return interpolate(
    text,
    args.size,
    (index, clause, digits) =>
      formatOne(clause, digits, args.at(index)) ?? clauseError(clause, typeNameOf(args.at(index))),
  );
}

function formatOne(clause: Clause, digits: number | undefined, value: CelValue): string | CelError | undefined {
  switch (clause) {
    case "s":
      return formatString(value);
    case "d":
      return whole(value)?.toString();
    case "o":
      return whole(value)?.toString(8);
    case "b":
      return typeof value === "boolean" ? (value ? "1" : "0") : whole(value)?.toString(2);
    case "x":
    case "X": {
      const hex =
        typeof value === "string" || value instanceof Uint8Array
          ? Buffer.from(value).toString("hex")
          : whole(value)?.toString(16);
      return clause === "X" ? hex?.toUpperCase() : hex;
    }
    case "f":
      return withDouble(value, (double) => fixedPoint(double, digits ?? DEFAULT_DIGITS));
    default:
      // The precision is the width here, as in cel-go; the fraction always has six digits.
      return withDouble(value, (double) => scientific(double).padStart(digits ?? DEFAULT_DIGITS));
  }
}

function whole(value: CelValue): bigint | undefined {
  if (isInt(value)) return BigInt(value);
  return value instanceof CelUint ? value.value : undefined;
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

function withDouble(value: CelValue, render: (value: number) => string): string | undefined {
  const double = value instanceof CelDouble ? value.value : typeof value === "string" ? SPECIAL.get(value) : undefined;
  return double === undefined ? undefined : render(double);
}

const symbol = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞");

/** With commas as thousands separators, as in American English. */
function fixedPoint(value: number, digits: number): string {
  if (!Number.isFinite(value)) return symbol(value);
  const [integer = "", fraction] = fixed(value, digits).split(".");
  const grouped = integer.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: number): string {
  if (!Number.isFinite(value)) return symbol(value);
  const [mantissa = "", exponent = "0"] = value.toExponential(DEFAULT_DIGITS).split("e");
  const power = Number(exponent);
  const digits = String(Math.abs(power)).padStart(2, "0");
  return `${mantissa}×10${power < 0 ? "⁻" : ""}${Array.from(digits, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;
}

/** Undefined for values without a string form. */
function formatString(value: CelValue): string | CelError | undefined {
  if (value === null) return "null";
  if (value instanceof CelList) return formatList(value);
  if (value instanceof CelMap) return formatMap(value);
  if (value instanceof CelTypeValue) return value.name;
  if (typeof value === "object" && !hasText(value)) return undefined;
  const text = toText(value);
  return text instanceof CelError ? failed(`could not convert argument ${goQuote(text.message)} to string`) : text;
}

const hasText = (value: CelValue & object): boolean =>
  value instanceof CelDouble ||
  value instanceof CelUint ||
  value instanceof CelTimestamp ||
  value instanceof CelDuration ||
  value instanceof Uint8Array;

/** A value inside a list or a map, where strings are quoted. */
function formatMember(value: CelValue): string | CelError {
  if (value instanceof CelDouble)
    return Number.isFinite(value.value)
      ? fixed(value.value, DEFAULT_DIGITS)
      : goQuote(Number.isNaN(value.value) ? "NaN" : value.value > 0 ? "+Inf" : "-Inf");
  const text = formatString(value);
  if (text === undefined) return failed(`no formatting function for ${typeNameOf(value)}`);
  if (text instanceof CelError) return text;
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(text)})`;
  if (value instanceof CelDuration) return `duration(${goQuote(text)})`;
  if (value instanceof Uint8Array) return `b${goQuote(text)}`;
  return typeof value === "string" ? goQuote(text) : text;
}

function formatList(list: CelList): string | CelError {
  const parts: string[] = [];
  for (const item of itemsOf(list)) {
    const text = formatMember(item);
    if (text instanceof CelError) return text;
    parts.push(text);
  }
  return `[${parts.join(", ")}]`;
}

function formatMap(map: CelMap): string | CelError {
  const parts: { key: string; value: string }[] = [];
  for (const key of map.keys()) {
    if (typeof key !== "string" && typeof key !== "boolean" && !isInt(key) && !(key instanceof CelUint))
      return failed(`no formatting function for map key of type ${typeNameOf(key)}`);
    const [keyText, value] = [formatMember(key), formatMember(map.find(key) ?? null)];
    if (keyText instanceof CelError) return keyText;
    if (value instanceof CelError) return value;
    parts.push({ key: keyText, value });
  }
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return `{${parts.map(({ key, value }) => `${key}:${value}`).join(", ")}}`;
}
