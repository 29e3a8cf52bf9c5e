/**
 * The arithmetic and comparison operators. The values select the implementation, so dynamic operands need no special
 * handling.
 */
import { compare, contains } from "./equality.ts";
import {
  addInts,
  addUints,
  divideInts,
  divideUints,
  INTEGER_OVERFLOW,
  MAX_INT,
  MIN_INT,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  subtractInts,
  subtractUints,
} from "./numbers.ts";
import { durationOf, shift } from "./time.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  isInt,
  NO_SUCH_OVERLOAD,
  sizeOf,
} from "./values.ts";

type Binary = (a: CelValue, b: CelValue) => CelValue;

/** The type of the left operand does not have the operator at all. */
const unsupported = (name: string, value: CelValue): CelError => {
  if (value instanceof CelError) return value;
  // In cel-go, types with methods report the error themselves, without the operator.
  const hasMethods = typeof value === "string" || value instanceof CelDuration || value instanceof CelTimestamp;
  return hasMethods ? NO_SUCH_OVERLOAD : new CelError(`no such overload: ${name}`);
};
const wrongRight = (value: CelValue): CelError => (value instanceof CelError ? value : NO_SUCH_OVERLOAD);

/** Nanoseconds are an int, and overflow like one. */
const durationSum = (nanos: bigint): CelValue =>
  nanos < MIN_INT || nanos > MAX_INT ? INTEGER_OVERFLOW : new CelDuration(nanos);

export const add: Binary = (a, b) => {
  if (isInt(a)) return isInt(b) ? addInts(a, b) : wrongRight(b);
  if (typeof a === "string") return typeof b === "string" ? a + b : wrongRight(b);
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value + b.value) : wrongRight(b);
  if (a instanceof CelList) return b instanceof CelList ? a.add(b) : wrongRight(b);
  if (a instanceof CelUint) return b instanceof CelUint ? addUints(a, b) : wrongRight(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.concat([a, b]) : wrongRight(b);
  if (a instanceof CelDuration) {
    if (b instanceof CelTimestamp) return shift(b, a.nanos);
    return b instanceof CelDuration ? durationSum(a.nanos + b.nanos) : wrongRight(b);
  }
  if (a instanceof CelTimestamp) return b instanceof CelDuration ? shift(a, b.nanos) : wrongRight(b);
  return unsupported("_+_", a);
};

export const subtract: Binary = (a, b) => {
  if (isInt(a)) return isInt(b) ? subtractInts(a, b) : wrongRight(b);
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value - b.value) : wrongRight(b);
  if (a instanceof CelUint) return b instanceof CelUint ? subtractUints(a, b) : wrongRight(b);
  if (a instanceof CelDuration) return b instanceof CelDuration ? durationSum(a.nanos - b.nanos) : wrongRight(b);
  if (a instanceof CelTimestamp) {
    if (b instanceof CelTimestamp) return durationOf(a.total - b.total);
    return b instanceof CelDuration ? shift(a, -b.nanos) : wrongRight(b);
  }
  return unsupported("_-_", a);
};

export const multiply: Binary = (a, b) => {
  if (isInt(a)) return isInt(b) ? multiplyInts(a, b) : wrongRight(b);
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value * b.value) : wrongRight(b);
  if (a instanceof CelUint) return b instanceof CelUint ? multiplyUints(a, b) : wrongRight(b);
  return unsupported("_*_", a);
};

export const divide: Binary = (a, b) => {
  if (isInt(a)) return isInt(b) ? divideInts(a, b) : wrongRight(b);
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value / b.value) : wrongRight(b);
  if (a instanceof CelUint) return b instanceof CelUint ? divideUints(a, b) : wrongRight(b);
  return unsupported("_/_", a);
};

export const modulo: Binary = (a, b) => {
  if (isInt(a)) return isInt(b) ? moduloInts(a, b) : wrongRight(b);
  if (a instanceof CelUint) return b instanceof CelUint ? moduloUints(a, b) : wrongRight(b);
  return unsupported("_%_", a);
};

const hasOrder = (value: CelValue): boolean =>
  !(
    value === null ||
    value instanceof CelList ||
    value instanceof CelMap ||
    value instanceof CelOptional ||
    value instanceof CelTypeValue ||
    value instanceof CelOpaque
  );

const comparing =
  (name: string, decide: (order: number) => boolean): Binary =>
  (a, b) => {
    if (!hasOrder(a)) return unsupported(name, a);
    const order = compare(a, b);
    return typeof order === "number" ? decide(order) : order;
  };

export const less = comparing("_<_", (order) => order < 0);
export const lessOrEqual = comparing("_<=_", (order) => order <= 0);
export const greater = comparing("_>_", (order) => order > 0);
export const greaterOrEqual = comparing("_>=_", (order) => order >= 0);

export const isIn: Binary = (value, container) => {
  if (container instanceof CelList) return contains(container, value);
  if (!(container instanceof CelMap)) return wrongRight(container);
  const found = container.find(value);
  return found instanceof CelError ? found : found !== undefined;
};

export function negate(value: CelValue): CelValue {
  if (isInt(value)) return negateInt(value);
  if (value instanceof CelDouble) return new CelDouble(-value.value);
  if (value instanceof CelDuration) return durationSum(-value.nanos);
  return typeof value === "boolean" ? NO_SUCH_OVERLOAD : unsupported("-_", value);
}

export function logicalNot(value: CelValue): CelValue {
  return typeof value === "boolean" ? !value : wrongRight(value);
}

export function size(value: CelValue): CelValue {
  if (typeof value === "string" || value instanceof Uint8Array || value instanceof CelList || value instanceof CelMap)
    return sizeOf(value);
  return unsupported("size", value);
}
