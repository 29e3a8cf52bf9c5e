/** Validates the driver configuration of devices, and CEL device selectors. */
import { isObject } from "@flotilla/base";
import { deviceSelectorProblem } from "@flotilla/cel";
import { field } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { DeviceConfiguration, DeviceSelector } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkDriverName } from "../storage/driver-names.ts";
import { checkList } from "./device-names.ts";

const MAX_PARAMETERS_BYTES = 10 * 1024;
const MAX_EXPRESSION_BYTES = 10 * 1024;
const MAX_SELECTORS = 32;

/** `isStored`: it was accepted before, possibly under another limit. */
export function checkConfiguration(at: string, { opaque }: Sent<DeviceConfiguration>, isStored = false): FieldError[] {
  if (!opaque) return [field.required(`${at}.opaque`)];
  return [
    ...checkDriverName(`${at}.opaque.driver`, opaque.driver ?? ""),
    ...checkRawObject(
      `${at}.opaque.parameters`,
      opaque.parameters,
      isStored ? Number.POSITIVE_INFINITY : MAX_PARAMETERS_BYTES,
    ),
  ];
}

/** Driver-specific JSON, which must be an object. */
export function checkRawObject(at: string, value: unknown, limit = MAX_PARAMETERS_BYTES): FieldError[] {
  if (value === undefined || value === null) return [field.required(at)];
  if (Buffer.byteLength(JSON.stringify(value)) > limit) return [field.tooLong(at, limit)];
  return isObject(value) ? [] : [field.invalid(at, "<value omitted>", "must be a valid JSON object")];
}

export function checkSelectors(at: string, selectors: readonly Sent<DeviceSelector>[]): FieldError[] {
  return checkList(at, selectors, MAX_SELECTORS, (path, { cel }) =>
    cel ? checkExpression(`${path}.cel.expression`, cel.expression ?? "") : [field.required(`${path}.cel`)],
  );
}

function checkExpression(at: string, expression: string): FieldError[] {
  // An expression that is too long is not compiled.
  if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) return [field.tooLong(at, MAX_EXPRESSION_BYTES)];
  const problem = deviceSelectorProblem(expression);
  if (!problem) return [];
  return [
    problem.kind === "costly"
      ? field.forbidden(at, "too complex, exceeds cost limit")
      : field.invalid(at, expression, problem.detail),
  ];
}
