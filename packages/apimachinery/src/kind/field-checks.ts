/** Checks of single fields that many kinds share. */
import { changedFields } from "./changed-fields.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "../field.ts";
import { labelKeyProblems, labelValueProblems } from "../names.ts";
import type { LabelSelector } from "./facts/meta-v1.ts";

export function checkNotNegative(path: string, value: number | undefined): FieldError[] {
  return value !== undefined && value < 0 ? [field.invalid(path, value, "must be greater than or equal to 0")] : [];
}

export function checkUnchanged(path: string, value: unknown, old: unknown): FieldError[] {
  if (equalJson(value, old)) return [];
  // The changed fields take the place of a value that is too long to show.
  const changes = field.shows(value) ? "" : changedFields(old, value, path);
  return [field.invalid(path, value, `field is immutable${changes}`)];
}

/** A number, or a percentage. */
export function checkIntOrPercent(path: string, value: number | string | undefined, limit?: 100): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === "number") return checkNotNegative(path, value);
  if (!/^[0-9]+%$/.test(value)) {
    return [
      field.invalid(
        path,
        value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  }
  return limit !== undefined && Number(value.slice(0, -1)) > limit
    ? [field.invalid(path, value, `must not be greater than ${limit}%`)]
    : [];
}

/** One error for each problem that `problemsOf` returns. */
export function checkText(path: string, value: string, problemsOf: (text: string) => readonly string[]): FieldError[] {
  return problemsOf(value).map((problem) => field.invalid(path, value, problem));
}

export function checkLabels(path: string, labels: Readonly<Record<string, string>> | undefined): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...checkText(path, key, labelKeyProblems),
    ...checkText(path, value, labelValueProblems),
  ]);
}

/** `lenientValues` accepts stored selectors with values that are not valid label values. */
export function checkSelector(
  path: string,
  selector: DeepReadonly<LabelSelector> | undefined,
  lenientValues = false,
): FieldError[] {
  const errors = checkLabels(`${path}.matchLabels`, selector?.matchLabels);
  for (const [index, { key = "", operator = "", values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0)
        errors.push(field.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0)
        errors.push(
          field.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
    } else errors.push(field.invalid(`${at}.operator`, operator, "not a valid selector operator"));
    errors.push(...checkText(`${at}.key`, key, labelKeyProblems));
    if (!lenientValues)
      errors.push(...values.flatMap((value, place) => checkText(`${at}.values[${place}]`, value, labelValueProblems)));
  }
  return errors;
}
