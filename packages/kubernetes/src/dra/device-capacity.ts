/** Validates how much of a device's capacity a request may consume, when several claims can share the device. */
import {
  addQuantities,
  compareQuantities,
  field,
  formatQuantity,
  parseQuantity,
  quantityValue,
} from "@flotilla/apimachinery";
import type { FieldError, Quantity, Sent } from "@flotilla/apimachinery";
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkSet } from "./device-names.ts";

const MAX_OPTIONS = 10;

export function checkCapacity(
  at: string,
  { value = "0", requestPolicy }: Sent<DeviceCapacity>,
  mayBeShared: boolean,
): FieldError[] {
  if (!requestPolicy) return [];
  return mayBeShared
    ? checkPolicy(`${at}.requestPolicy`, requestPolicy, parseQuantity(value))
    : [field.forbidden(`${at}.requestPolicy`, "allowMultipleAllocations must be true")];
}

function checkPolicy(
  at: string,
  { default: fallback, validValues = [], validRange }: Sent<CapacityRequestPolicy>,
  capacity: Quantity,
): FieldError[] {
  if (validValues.length > 0 && validRange)
    return [
      field.forbidden(
        at,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    ];
  const policy = validValues.length > 0 ? "validValues" : validRange ? "validRange" : undefined;
  if (policy === undefined) return [];
  if (fallback === undefined) return [field.required(`${at}.default`, `required when ${policy} is defined`)];
  const byDefault = parseQuantity(fallback);
  return validRange
    ? checkRange(`${at}.validRange`, validRange, byDefault, capacity)
    : checkValues(`${at}.validValues`, validValues.map(parseQuantity), byDefault, capacity);
}

const isMore = (a: Quantity, b: Quantity): boolean => compareQuantities(a, b) > 0;

function checkValues(at: string, values: readonly Quantity[], byDefault: Quantity, capacity: Quantity): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, value] of values.entries()) {
    const next = values[index + 1];
    if (next && isMore(value, next))
      errors.push(
        field.invalid(`${at}[${index + 1}]`, formatQuantity(next), "values must be sorted in ascending order"),
      );
  }
  const checkOption = (path: string, option: Quantity): FieldError[] =>
    isMore(option, capacity)
      ? [
          field.invalid(
            path,
            formatQuantity(option),
            `option is larger than capacity value: ${formatQuantity(capacity)}`,
          ),
        ]
      : [];
  errors.push(...checkSet(at, values, MAX_OPTIONS, checkOption, (value) => String(quantityValue(value))));
  // A list that is too long was not checked, so it does not contain a valid default.
  const isThere = values.length <= MAX_OPTIONS && values.some((value) => compareQuantities(value, byDefault) === 0);
  return isThere
    ? errors
    : [
        ...errors,
        field.invalid(at, formatQuantity(byDefault), "default value is not valid according to the requestPolicy"),
      ];
}

function checkRange(
  at: string,
  range: Sent<CapacityRequestPolicyRange>,
  byDefault: Quantity,
  capacity: Quantity,
): FieldError[] {
  if (range.min === undefined) return [field.required(`${at}.min`, "required when validRange is defined")];
  const min = parseQuantity(range.min);
  const max = range.max === undefined ? undefined : parseQuantity(range.max);
  const step = range.step === undefined ? undefined : parseQuantity(range.step);
  const errors: FieldError[] = [];
  const refuse = (path: string, shown: Quantity, problem: string, other: Quantity): void =>
    void errors.push(field.invalid(`${at}.${path}`, formatQuantity(shown), `${problem}: ${formatQuantity(other)}`));
  if (isMore(min, capacity)) refuse("min", min, "min is larger than capacity value", capacity);
  if (isMore(min, byDefault)) refuse("min", byDefault, "default is less than min", min);
  if (max && isMore(min, max)) refuse("max", min, "min is larger than max", max);
  if (max && isMore(max, capacity)) refuse("max", max, "max is larger than capacity value", capacity);
  if (max && isMore(byDefault, max)) refuse("max", byDefault, "default is more than max", max);
  if (!step) return errors;
  const first = addQuantities(min, step);
  if (isMore(first, capacity))
    refuse("step", step, `one step ${formatQuantity(first)} is larger than capacity value`, capacity);
  for (const value of max ? [byDefault, max] : [byDefault])
    if (!isOnStep(value, min, step))
      errors.push(
        field.invalid(
          `${at}.step`,
          formatQuantity(value),
          `value is not a multiple of a given step (${formatQuantity(step)}) from (${formatQuantity(min)})`,
        ),
      );
  return errors;
}

/** Kubernetes divides by the step without a check; here a step of zero matches nothing. */
function isOnStep(value: Quantity, min: Quantity, step: Quantity): boolean {
  const size = quantityValue(step);
  const way = quantityValue(value) - quantityValue(min);
  return size === 0n ? way === 0n : way % size === 0n;
}
