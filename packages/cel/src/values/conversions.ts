/** Conversions between types: `int(x)`, `string(x)` and the others. */
import {
  doubleToInt,
  doubleToUint,
  formatDouble,
  INTEGER_OVERFLOW,
  intOf,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  parseDouble,
  parseWhole,
  uintOf,
} from "./numbers.ts";
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  TIMESTAMP_OVERFLOW,
  timestampOf,
} from "./time.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  CelTimestamp,
  CelUint,
  type CelInt,
  type CelValue,
  isInt,
} from "./values.ts";

/** The string does not have the format of the type. */
const unreadable = (target: string): CelError => new CelError(`type conversion error from 'string' to '${target}'`);

export function toInt(value: CelValue): CelValue {
  if (isInt(value)) return value;
  if (value instanceof CelDouble) return doubleToInt(value.value);
  if (value instanceof CelUint) return value.value > MAX_INT ? INTEGER_OVERFLOW : intOf(value.value);
  if (value instanceof CelDuration) return intOf(value.nanos);
  if (value instanceof CelTimestamp) return value.seconds;
  const whole = parseWhole(value as string, MIN_INT, MAX_INT);
  return whole === undefined ? unreadable("int") : intOf(whole);
}

export function toUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value;
  if (isInt(value)) return uintOf(BigInt(value));
  if (value instanceof CelDouble) return doubleToUint(value.value);
  const whole = parseWhole(value as string, 0n, MAX_UINT);
  return whole === undefined ? unreadable("uint") : new CelUint(whole);
}

export function toDouble(value: CelValue): CelValue {
  if (value instanceof CelDouble) return value;
  if (isInt(value)) return new CelDouble(Number(value));
  if (value instanceof CelUint) return new CelDouble(Number(value.value));
  const double = parseDouble(value as string);
  return double === undefined ? unreadable("double") : new CelDouble(double);
}

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

export function toBool(value: CelValue): CelValue {
  if (typeof value === "boolean") return value;
  const text = value as string;
  return TRUE.has(text) || (FALSE.has(text) ? false : unreadable("bool"));
}

export function toBytes(value: CelValue): CelValue {
  return value instanceof Uint8Array ? value : Buffer.from(value as string);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The string form of a scalar. */
export function toText(value: CelValue): string | CelError {
  if (typeof value === "string") return value;
  if (value instanceof CelDouble) return formatDouble(value.value);
  if (value instanceof CelUint) return value.value.toString();
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof Uint8Array) return textOfBytes(value);
  return `${value as CelInt | boolean}`;
}

function textOfBytes(bytes: Uint8Array): string | CelError {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return new CelError("invalid UTF-8 in bytes, cannot convert to string");
    throw error;
  }
}

export function toTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value;
  if (isInt(value)) return timestampOf(Number(value));
  const parsed = parseTimestamp(value as string);
  if (!parsed) return unreadable("google.protobuf.Timestamp");
  return timestampOf(parsed.seconds) === TIMESTAMP_OVERFLOW ? TIMESTAMP_OVERFLOW : parsed;
}

export function toDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value;
  // Declared by the language, but the unit of the number is unspecified.
  if (isInt(value)) return new CelError("type conversion error from 'int' to 'google.protobuf.Duration'");
  return parseDuration(value as string) ?? unreadable("google.protobuf.Duration");
}
