/** Equality and order of values, across the types of numbers. */
import { compareNumbers, isNumber } from "./numbers.ts";
import { compareTimestamps } from "./time.ts";
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  type CelValue,
  NO_SUCH_OVERLOAD,
} from "./values.ts";

/**
 * Reports whether two values are equal. Values of different types are not, except numbers; incomparable values give an
 * error.
 */
export function equal(a: CelValue, b: CelValue): boolean | CelError {
  if (a === b) return !(a instanceof CelError) || a;
  switch (typeof a) {
    case "string":
    case "boolean":
      return false;
    case "number":
    case "bigint":
      return isNumber(b) && compareNumbers(a, b) === 0;
    default:
      return equalObjects(a, b);
  }
}

function equalObjects(a: CelValue & (object | null), b: CelValue): boolean | CelError {
  if (a === null || b === null) return a === b;
  if (a instanceof CelList || a instanceof CelMap || a instanceof CelOpaque) return a.equals(b);
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && compareTimestamps(a, b) === 0;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b);
  return a;
}

function equalOptionals({ value: a }: CelOptional, { value: b }: CelOptional): boolean | CelError {
  if (a === undefined || b === undefined) return a === b;
  return equal(a, b);
}

const NAN = new CelError("NaN values cannot be ordered");

/** Negative, zero or positive; an error for values without an order. */
export function compare(a: CelValue, b: CelValue): number | CelError {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (isNumber(a)) return isNumber(b) ? (compareNumbers(a, b) ?? NAN) : failed(b);
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : failed(b);
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : failed(b);
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp ? compareTimestamps(a, b) : failed(b);
  if (a instanceof CelDuration)
    return b instanceof CelDuration ? (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0) : failed(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : failed(b);
  return failed(a);
}

const failed = (value: CelValue): CelError => (value instanceof CelError ? value : NO_SUCH_OVERLOAD);

/** By code points, as in UTF-8; JavaScript sorts surrogates before some characters with lower code points. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const isLeftHigh = left >= 0xd800 && left <= 0xdfff;
    const isRightHigh = right >= 0xd800 && right <= 0xdfff;
    return isLeftHigh === isRightHigh ? left - right : isLeftHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** Reports whether a value is an element of a list. */
export function contains(list: CelList, value: CelValue): boolean | CelError {
  for (let index = 0; index < list.size; index++) if (equal(value, list.at(index)) === true) return true;
  return false;
}
