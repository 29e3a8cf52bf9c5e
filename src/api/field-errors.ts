/** Field errors with the messages of Kubernetes, and checks that many kinds share. */
import { equalJson, type DeepReadonly } from "../base/index.ts";
import {
  labelKeyProblems,
  labelSelectorOf,
  labelValueProblems,
  matchesLabels,
  type FieldError,
} from "../machinery/index.ts";
import { changedFields } from "./changed-fields.ts";
import type { LabelSelector } from "./facts/meta-v1.ts";

const because = (detail: string | undefined): string => (detail === undefined ? "" : `: ${detail}`);

/** Longer objects and lists are omitted, as in upstream's errors without a value: the field already names them. */
const MAX_SHOWN_CHARACTERS = 256;

/** The rejected value as JSON. */
function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return typeof value === "object" && text.length > MAX_SHOWN_CHARACTERS ? "" : `: ${text}`;
}

export const missing = (field: string, detail?: string): FieldError => ({
  type: "Required",
  field,
  message: `Required value${because(detail)}`,
});
export const wrong = (field: string, value: unknown, detail?: string): FieldError => ({
  type: "Invalid",
  field,
  message: `Invalid value${shown(value)}${because(detail)}`,
});
export const forbiddenField = (field: string, detail: string): FieldError => ({
  type: "Forbidden",
  field,
  message: `Forbidden: ${detail}`,
});
export const twice = (field: string, value: unknown): FieldError => ({
  type: "Duplicate",
  field,
  message: `Duplicate value${shown(value)}`,
});
export const noSuch = (field: string, value: unknown): FieldError => ({
  type: "NotFound",
  field,
  message: `Not found: ${JSON.stringify(value)}`,
});
export const notOneOf = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: "NotSupported",
  field,
  message: `Unsupported value${shown(value)}: supported values: ${supported.map((item) => JSON.stringify(item)).join(", ")}`,
});
export const tooLong = (field: string, limit: number): FieldError => ({
  type: "TooLong",
  field,
  message: `Too long: may not be more than ${limit} bytes`,
});
export const tooMany = (field: string, count: number, limit: number): FieldError => ({
  type: "TooMany",
  field,
  message: `Too many: ${count}: must have at most ${limit} items`,
});
/** Rejects an upstream feature that Flotilla would otherwise accept and ignore. */
export const notSupportedYet = (field: string): FieldError => forbiddenField(field, "not supported by Flotilla yet");

export function checkNotNegative(field: string, value: number | undefined): FieldError[] {
  return value !== undefined && value < 0 ? [wrong(field, value, "must be greater than or equal to 0")] : [];
}

export function checkUnchanged(field: string, value: unknown, old: unknown): FieldError[] {
  if (equalJson(value, old)) return [];
  // The changed fields take the place of a value that is too long to show.
  const changes = shown(value) === "" ? changedFields(old, value, field) : "";
  return [wrong(field, value, `field is immutable${changes}`)];
}

/** A number, or a percentage. */
export function checkIntOrPercent(field: string, value: number | string | undefined, limit?: 100): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === "number") return checkNotNegative(field, value);
  if (!/^[0-9]+%$/.test(value)) {
    return [
      wrong(
        field,
        value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  }
  return limit !== undefined && Number(value.slice(0, -1)) > limit
    ? [wrong(field, value, `must not be greater than ${limit}%`)]
    : [];
}

/** One error for each problem that `problemsOf` returns. */
export function checkText(field: string, value: string, problemsOf: (text: string) => readonly string[]): FieldError[] {
  return problemsOf(value).map((problem) => wrong(field, value, problem));
}

export function checkLabels(field: string, labels: Readonly<Record<string, string>> | undefined): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...checkText(field, key, labelKeyProblems),
    ...checkText(field, value, labelValueProblems),
  ]);
}

/** `lenientValues` accepts stored selectors with values that are not valid label values. */
export function checkSelector(
  field: string,
  selector: DeepReadonly<LabelSelector> | undefined,
  lenientValues = false,
): FieldError[] {
  const errors = checkLabels(`${field}.matchLabels`, selector?.matchLabels);
  for (const [index, { key = "", operator = "", values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = `${field}.matchExpressions[${index}]`;
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0)
        errors.push(missing(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0)
        errors.push(
          forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
    } else errors.push(wrong(`${at}.operator`, operator, "not a valid selector operator"));
    errors.push(...checkText(`${at}.key`, key, labelKeyProblems));
    if (!lenientValues)
      errors.push(...values.flatMap((value, place) => checkText(`${at}.values[${place}]`, value, labelValueProblems)));
  }
  return errors;
}

/** The rules that tie a workload's selector to the labels of its pods. */
export function checkWorkloadSelector(
  selector: DeepReadonly<LabelSelector> | undefined,
  templateLabels: Readonly<Record<string, string>> | undefined,
  workload = "deployment",
): FieldError[] {
  if (!selector) return [];
  const errors = checkSelector("spec.selector", selector);
  if (errors.length > 0) return [...errors, wrong("spec.selector", selector, "invalid label selector")];
  if (Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0) === 0) {
    errors.push(wrong("spec.selector", selector, `empty selector is invalid for ${workload}`));
  }
  if (!matchesLabels(labelSelectorOf(selector), templateLabels)) {
    errors.push(wrong("spec.template.metadata.labels", templateLabels, "`selector` does not match template `labels`"));
  }
  return errors;
}
