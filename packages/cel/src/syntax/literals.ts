/** Values of literals. */
import type { Token } from "./lexer.ts";
import { intOf, MAX_INT, MAX_UINT, MIN_INT, parseDouble } from "../values/numbers.ts";
import { unescapeBytes, unescapeText } from "@flotilla/apimachinery";
import { CelDouble, CelError, CelUint, type CelValue } from "../values/values.ts";

/** The value, an error for an invalid literal, or undefined for a token that is not a literal. */
export function literalValue(kind: Token["kind"], text: string): CelValue | undefined {
  switch (kind) {
    case "int":
      return wholeLiteral(text, MIN_INT, MAX_INT, "int");
    case "uint":
      return wholeLiteral(text.slice(0, -1), 0n, MAX_UINT, "uint");
    case "float": {
      const value = parseDouble(text);
      return value === undefined ? new CelError("invalid double literal") : new CelDouble(value);
    }
    case "string":
      return unescapeText(text) ?? new CelError("invalid unicode code point");
    case "bytes":
      return unescapeBytes(text.slice(1)) ?? new CelError("unable to unescape string");
    case "true":
      return true;
    case "false":
      return false;
    case "null":
      return null;
    default:
      return undefined;
  }
}

function wholeLiteral(text: string, min: bigint, max: bigint, type: "int" | "uint"): CelValue {
  const isNegative = text.startsWith("-");
  const digits = BigInt(text.replace("-", ""));
  const value = isNegative ? -digits : digits;
  if (value < min || value > max) return new CelError(`invalid ${type} literal`);
  return type === "uint" ? new CelUint(value) : intOf(value);
}
