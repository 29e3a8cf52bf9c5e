/**
 * Number keywords of a schema. The real server compares integers with limits truncated to integers, and reports limits
 * that do not fit the type, once for every value. Both are visible in its responses.
 */
import { formatFloat, formatNumber } from "../format-value.ts";
import type { Schema } from "../schema.ts";

/** Receives the errors: a value that violates a rule of its field, or a remark without a field. */
export interface NumberReport {
  /** The path that messages contain. */
  path(): string;
  invalid(value: number | bigint, message: string): void;
  remark(message: string): void;
}

const MAX_INT64 = 2 ** 63;
const MAX_FLOAT32 = 3.4028234663852886e38;

/** Reports whether the real server holds the number as a 64-bit integer. */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -MAX_INT64 && value < MAX_INT64;
}

/** Reports whether a number is an integer that every JSON parser represents exactly. */
export function isJsonInteger(value: number): boolean {
  return Number.isSafeInteger(value);
}

export function checkNumber(schema: Schema, value: number, report: NumberReport): void {
  const { multipleOf, minimum, maximum } = schema;
  checkRange(schema, value, "Checked", report);
  if (multipleOf !== undefined) {
    if (checkRange(schema, multipleOf, "MultipleOf", report) && isInt64(value))
      checkWholeMultiple(value, Math.trunc(multipleOf), report);
    else checkMultiple(value, multipleOf, report);
  }
  if (minimum !== undefined) {
    const isWhole = checkRange(schema, minimum, "Minimum boundary", report) && isInt64(value);
    const bound = isWhole ? Math.trunc(minimum) : minimum;
    if (schema.exclusiveMinimum ? value <= bound : value < bound)
      report.invalid(
        value,
        `${report.path()} in body should be greater than ${schema.exclusiveMinimum ? "" : "or equal to "}${isWhole ? formatNumber(bound) : formatFloat(bound)}`,
      );
  }
  if (maximum !== undefined) {
    const isWhole = checkRange(schema, maximum, "Maximum boundary", report) && isInt64(value);
    const bound = isWhole ? Math.trunc(maximum) : maximum;
    if (schema.exclusiveMaximum ? value >= bound : value > bound)
      report.invalid(
        value,
        `${report.path()} in body should be less than ${schema.exclusiveMaximum ? "" : "or equal to "}${isWhole ? formatNumber(bound) : formatFloat(bound)}`,
      );
  }
}

/** The same for an integer of 64 bits that a number cannot keep. Limits are compared exactly. */
export function checkLongInteger(schema: Schema, value: bigint, report: NumberReport): void {
  const { type, format, multipleOf, minimum, maximum } = schema;
  const fail = (what: string): void => report.invalid(value, `${report.path()} in body should be ${what}`);
  if (type === "integer" && format === "int32")
    report.remark(`Checked value must be of type integer with format int32 in ${report.path()}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    fail(`greater than ${schema.exclusiveMinimum ? "" : "or equal to "}${formatNumber(minimum)}`);
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    fail(`less than ${schema.exclusiveMaximum ? "" : "or equal to "}${formatNumber(maximum)}`);
  if (multipleOf !== undefined && Math.trunc(multipleOf) > 0 && value % BigInt(Math.trunc(multipleOf)) !== 0n)
    fail(`a multiple of ${formatNumber(multipleOf)}`);
}

/** Reports whether the schema's type can hold a number; adds a remark when it cannot. */
function checkRange({ type, format }: Schema, value: number, what: string, report: NumberReport): boolean {
  if (type === "integer") {
    const narrow = format === "int32";
    const fits = isInt64(value) && (!narrow || (value >= -(2 ** 31) && value < 2 ** 31));
    if (!fits)
      report.remark(
        `${what} value must be of type integer ${narrow || format === "int64" ? `with format ${format}` : "(default format)"} in ${report.path()}`,
      );
    return fits;
  }
  if (type !== "number" || format !== "float" || Math.abs(value) <= MAX_FLOAT32) return true;
  report.remark(`${what} value must be of type number with format float in ${report.path()}`);
  return false;
}

function checkWholeMultiple(value: number, step: number, report: NumberReport): void {
  if (step <= 0) report.invalid(step, notPositive(step, report));
  else if (value % step !== 0)
    report.invalid(value, `${report.path()} in body should be a multiple of ${formatNumber(step)}`);
}

/** 0.3 is a multiple of 0.1, although their quotient as doubles may be slightly off. */
function checkMultiple(value: number, step: number, report: NumberReport): void {
  if (step <= 0) return report.invalid(step, notPositive(step, report));
  const quotient = step < 1 ? (1 / step) * value : value / step;
  const whole = Math.trunc(quotient);
  const isWhole =
    Math.abs(quotient) <= Number.MAX_SAFE_INTEGER &&
    (quotient === whole || (whole !== 0 && Math.abs(quotient - whole) / (Math.abs(quotient) + Math.abs(whole)) < 1e-9));
  if (!isWhole) report.invalid(value, `${report.path()} in body should be a multiple of ${formatFloat(step)}`);
}

const notPositive = (step: number, report: NumberReport): string =>
  `factor MultipleOf declared for ${report.path()} must be positive: ${formatNumber(step)}`;
