/** `string.format`, which is Go's `fmt.Sprintf` for Lua values. */
import { toBytes } from "../byte-text.ts";
import { exponentSuffix, formatFloat, formatNumber, isInt64, parseNumber, toInt64 } from "../numbers.ts";
import { typeOf } from "../values.ts";
import type { LuaValue } from "../values.ts";

interface Directive {
  flags: string;
  width: number | undefined;
  precision: number | undefined;
  verb: string;
}

/** Go rejects larger widths. */
const MAX_WIDTH = 1_000_000;
const DIRECTIVE = /%([-+# 0]*)(\d+)?(?:\.(\d*))?(.?)/suy;

/** `check` is called with the length so far and the number of characters to read, and throws when that is too much. */
export function formatText(
  format: string,
  args: readonly LuaValue[],
  textOf: (value: LuaValue) => string,
  check: (length: number, characters: number) => void,
): string {
  const signs = format.split("%").length - 1 - (format.split("%%").length - 1);
  const given = args.slice(0, Math.max(0, signs));
  let text = "";
  let used = 0;
  for (let at = 0; at < format.length;) {
    const sign = format.indexOf("%", at);
    if (sign < 0) {
      text += format.slice(at);
      break;
    }
    text += format.slice(at, sign);
    DIRECTIVE.lastIndex = sign;
    const [whole = "%", flags = "", width, precision, verb = ""] = DIRECTIVE.exec(format) ?? [];
    at = sign + whole.length;
    if (verb === "") text += "%!(NOVERB)";
    else if (verb === "%") text += "%";
    else if (used >= given.length) text += `%!${verb}(MISSING)`;
    else {
      const directive = {
        flags,
        width: width === undefined ? undefined : Number(width),
        precision: precision === undefined ? undefined : Number(precision),
        verb,
      };
      const isTooWide = (directive.width ?? 0) > MAX_WIDTH;
      const isTooPrecise = (directive.precision ?? 0) > MAX_WIDTH;
      check(
        text.length + (isTooWide ? 0 : (directive.width ?? 0)) + (isTooPrecise ? 0 : (directive.precision ?? 0)),
        charactersOf(directive, given[used]),
      );
      if (isTooWide) text += "%!(BADWIDTH)";
      if (isTooPrecise) text += "%!(BADPREC)";
      text += formatValue(
        {
          ...directive,
          width: isTooWide ? undefined : directive.width,
          precision: isTooPrecise ? undefined : directive.precision,
        },
        given[used],
        textOf,
      );
      used += 1;
    }
    check(text.length, 0);
  }
  const extra = given.slice(used).map((value) => `${goType(value)}=${textOf(value)}`);
  return extra.length > 0 ? `${text}%!(EXTRA ${extra.join(", ")})` : text;
}

/** A plain `%s` copies a text; every other directive processes it character by character. */
function charactersOf({ verb, width, precision }: Directive, value: LuaValue): number {
  const isPlain = (verb === "s" || verb === "v") && width === undefined && precision === undefined;
  return typeof value === "string" && !isPlain ? value.length : 0;
}

function formatValue(directive: Directive, value: LuaValue, textOf: (value: LuaValue) => string): string {
  const { verb } = directive;
  if (verb === "T") return formatString({ ...directive, verb: "s" }, goType(value));
  if (verb === "p") return formatPointer(directive, value, textOf);
  if (typeof value === "number") return formatLuaNumber(directive, value);
  if (typeof value === "string") {
    if (verb !== "d" && verb !== "i") return formatString(directive, value);
    return parseNumber(value) === undefined
      ? formatInteger({ ...directive, verb: "d" }, 0)
      : formatString({ ...directive, verb: "s" }, value);
  }
  if ("svqxX".includes(verb)) return formatString(directive, textOf(value));
  if (typeof value === "boolean" && verb === "t") return padText(directive, textOf(value));
  // Go prints a pointer to an empty struct for nil.
  return value === undefined ? "&{}" : badVerb(directive, goType(value), padText(directive, textOf(value)));
}

/** Go reports the value it got, formatted with the given flags. */
const badVerb = ({ verb }: Directive, type: string, value: string): string => `%!${verb}(${type}=${value})`;

function formatPointer(directive: Directive, value: LuaValue, textOf: (value: LuaValue) => string): string {
  if (typeof value === "number")
    return badVerb(directive, goType(value), formatReal({ ...directive, verb: "g" }, value));
  if (typeof value === "string") return badVerb(directive, goType(value), padCut(directive, value));
  if (typeof value === "boolean") return badVerb(directive, goType(value), padText(directive, textOf(value)));
  return pad(directive, textOf(value).replace(/^.*(?=0x)/, ""), false);
}

function goType(value: LuaValue): string {
  switch (typeOf(value)) {
    case "nil":
      return "*lua.LNilType";
    case "boolean":
      return "lua.LBool";
    case "number":
      return "lua.LNumber";
    case "string":
      return "lua.LString";
    case "function":
      return "*lua.LFunction";
    default:
      return "*lua.LTable";
  }
}

function formatLuaNumber(directive: Directive, value: number): string {
  const { verb } = directive;
  if (verb === "q" || verb === "s") return formatString(directive, formatNumber(value));
  if ("bcdoxXU".includes(verb)) return formatInteger(directive, toInt64(value));
  if ("eEfFgG".includes(verb)) return formatReal(directive, value);
  if (verb === "i") return formatInteger({ ...directive, verb: "d" }, toInt64(value));
  if (verb === "v")
    return isInt64(value)
      ? formatInteger({ ...directive, verb: "d" }, value)
      : formatReal({ ...directive, verb: "g" }, value);
  return isInt64(value)
    ? badVerb(directive, "int64", formatInteger({ ...directive, verb: "d" }, value))
    : badVerb(directive, "float64", formatReal({ ...directive, verb: "g" }, value));
}

/** Zeros precede a whole text, but are placed between the sign and the digits of a number. */
function padText(directive: Directive, text: string): string {
  if (directive.width === undefined) return text;
  const missing = directive.width - Array.from(text).length;
  return directive.flags.includes("0") && !directive.flags.includes("-") && missing > 0
    ? "0".repeat(missing) + text
    : pad(directive, text, false);
}

function pad({ flags, width = 0 }: Directive, text: string, canBeZero: boolean): string {
  const missing = width === 0 ? 0 : width - Array.from(text).length;
  if (missing <= 0) return text;
  if (flags.includes("-")) return text + " ".repeat(missing);
  if (!flags.includes("0") || !canBeZero) return " ".repeat(missing) + text;
  const sign = /^[+\- ]/.exec(text)?.[0] ?? "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}

const cutTo = (precision: number | undefined, value: string): string =>
  precision === undefined ? value : Array.from(value).slice(0, precision).join("");
const padCut = (directive: Directive, value: string): string => padText(directive, cutTo(directive.precision, value));

function formatString(directive: Directive, value: string): string {
  const { verb, precision } = directive;
  const cut = cutTo(precision, value);
  switch (verb) {
    case "s":
    case "v":
      return padText(directive, cut);
    case "q":
      return padText(directive, quote(cut));
    case "x":
    case "X": {
      const bytes = toBytes(value).slice(0, precision);
      const isSpaced = directive.flags.includes(" ");
      const prefix = directive.flags.includes("#") && bytes !== "" ? "0x" : "";
      const hex =
        prefix +
        Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(
          isSpaced ? ` ${prefix}` : "",
        );
      return padText(directive, verb === "X" ? hex.toUpperCase() : hex);
    }
    default:
      return badVerb(directive, "string", padCut(directive, value));
  }
}

function formatInteger(directive: Directive, value: number): string {
  const { verb, flags, precision } = directive;
  if (verb === "c") return padText(directive, value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : "\ufffd");
  if (verb === "U")
    return pad(
      directive,
      `U+${value
        .toString(16)
        .toUpperCase()
        .padStart(precision ?? 4, "0")}`,
      false,
    );
  const base = verb === "b" ? 2 : verb === "o" ? 8 : verb === "x" || verb === "X" ? 16 : 10;
  const big = BigInt(value);
  let digits = (big < 0n ? -big : big).toString(base);
  if (precision !== undefined) digits = value === 0 && precision === 0 ? "" : digits.padStart(precision, "0");
  const sign = value < 0 ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  const prefix = !flags.includes("#") ? "" : base === 16 ? "0x" : base === 8 ? "0" : base === 2 ? "0b" : "";
  const text = sign + prefix + digits;
  return pad(directive, verb === "X" ? text.toUpperCase() : text, precision === undefined);
}

function formatReal(directive: Directive, value: number): string {
  const { verb, flags, precision } = directive;
  if (!Number.isFinite(value)) {
    const text = Number.isNaN(value)
      ? flags.includes("+")
        ? "+NaN"
        : "NaN"
      : value > 0
        ? flags.includes(" ") && !flags.includes("+")
          ? " Inf"
          : "+Inf"
        : "-Inf";
    return pad(directive, text, false);
  }
  const size = Math.abs(value);
  const kind = verb.toLowerCase();
  let text =
    kind === "f"
      ? fixed(size, precision ?? 6)
      : kind === "e"
        ? exponential(size, precision ?? 6)
        : general(size, precision);
  if (verb === "E" || verb === "G") text = text.toUpperCase();
  const sign = value < 0 || Object.is(value, -0) ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return pad(directive, sign + text, true);
}

/** Digits beyond this are zeros or noise, and JavaScript formats no more at once. */
const MAX_DIGITS = 100;

function fixed(value: number, digits: number): string {
  if (value >= 1e21) return BigInt(value).toString() + (digits > 0 ? `.${"0".repeat(digits)}` : "");
  const known = Math.min(digits, MAX_DIGITS);
  return (
    halfToEven(value.toFixed(known), value.toFixed(Math.min(known + MORE_DIGITS, MAX_DIGITS))) +
    "0".repeat(digits - known)
  );
}

/** Enough to detect a number exactly between two shorter ones. */
const MORE_DIGITS = 40;

/** Rounds an exact half to even, where JavaScript rounds up. Both texts have the same form; one has more digits. */
function halfToEven(rounded: string, exact: string): string {
  const whole = exact.slice(0, rounded.length);
  const cut = rounded.includes(".") ? whole : whole.slice(0, exact.indexOf("."));
  const rest = exact.slice(cut.length).replace(".", "");
  return rounded !== cut && rounded.length === cut.length && /^50*$/.test(rest) && Number(cut.at(-1)) % 2 === 0
    ? cut
    : rounded;
}

/** A mantissa with that many digits after the point, and a power of ten. */
function scientific(value: number, digits: number): [mantissa: string, exponent: number] {
  const [mantissa = "", exponent = "0"] = value.toExponential(digits).split("e");
  const [exact = "", exactExponent = "0"] = value.toExponential(Math.min(digits + MORE_DIGITS, MAX_DIGITS)).split("e");
  // A different exponent means that it was rounded up to the next power of ten, which is not possible for a half below
  // an even digit.
  return [exponent === exactExponent ? halfToEven(mantissa, exact) : mantissa, Number(exponent)];
}

function exponential(value: number, digits: number): string {
  const [mantissa, exponent] = scientific(value, Math.min(digits, MAX_DIGITS));
  return `${mantissa}${"0".repeat(Math.max(0, digits - MAX_DIGITS))}e${exponentSuffix(exponent)}`;
}

/** The shorter of both forms: exponential from a certain size on. */
function general(value: number, precision: number | undefined): string {
  if (precision === undefined) return formatFloat(value);
  const digits = Math.min(Math.max(precision, 1), MAX_DIGITS);
  const [mantissa, exponent] = scientific(value, digits - 1);
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  const count = short.replace(".", "").length;
  const limit = digits > count && count >= exponent + 1 ? count : digits;
  if (exponent < -4 || exponent >= limit) return `${short}e${exponentSuffix(exponent)}`;
  const text = fixed(value, Math.min(MAX_DIGITS, Math.max(0, digits - 1 - exponent)));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
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
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Go's `strconv.Quote`. */
function quote(value: string): string {
  let text = '"';
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0;
    const isLoneByte = code >= 0xdc80 && code <= 0xdcff;
    if (ESCAPES.has(character)) text += ESCAPES.get(character);
    else if (PRINTABLE.test(character)) text += character;
    else if (isLoneByte || code < 0x80) text += `\\x${(code & 0xff).toString(16).padStart(2, "0")}`;
    else if (code < 0x10000) text += `\\u${code.toString(16).padStart(4, "0")}`;
    else text += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return `${text}"`;
}
