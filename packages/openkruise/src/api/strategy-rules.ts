/** Update strategy rules shared by several OpenKruise kinds: percentages of pods, update order, names. */
import type { DeepReadonly } from "@flotilla/base";
import { checkNotNegative, checkSelector, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { UpdateScatterTerm } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { UpdatePriorityStrategy } from "@flotilla/apimachinery/facts/pub-kruise.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import { isEmptySelector } from "./template-rules.ts";

type Read<T> = DeepReadonly<T>;

const PERCENT = /^[0-9]+%$/;
const PERCENT_PROBLEM =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A non-negative number, or a whole percentage. */
export function checkIntOrPercent(path: string, value: IntOrString): FieldError[] {
  if (typeof value === "number") return checkNotNegative(path, value);
  return PERCENT.test(value) ? [] : [field.invalid(path, value, PERCENT_PROBLEM)];
}

export function checkAtMostAll(path: string, value: IntOrString): FieldError[] {
  return (percentOf(value) ?? 0) > 100 ? [field.invalid(path, value, "must not be greater than 100%")] : [];
}

/** The number before the percent sign; undefined for anything but whole percentages. */
export const percentOf = (value: IntOrString): number | undefined =>
  typeof value === "string" && PERCENT.test(value) ? Number(value.slice(0, -1)) : undefined;

export type Share = { value: number } | { problem: string };

/** A share of pods, rounded up: a number or a percentage, which may have a fraction. */
export function readShare(share: IntOrString | undefined, total: number): Share {
  if (share === undefined) return { problem: "nil value for IntOrString" };
  if (typeof share === "number") return { value: share };
  if (!share.endsWith("%")) return { problem: "invalid type: string is not a percentage" };
  const text = share.slice(0, -1);
  const percent = readFloat(text);
  return percent === undefined
    ? { problem: `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax` }
    : { value: Math.ceil((percent * total) / 100) };
}

function readFloat(text: string): number | undefined {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** The first error in an update order by weight or by label. */
export function priorityProblem(strategy: Read<UpdatePriorityStrategy> | undefined): string | undefined {
  const { weightPriority = [], orderPriority = [] } = strategy ?? {};
  if (weightPriority.length > 0 && orderPriority.length > 0)
    return "only one of weightPriority and orderPriority can be used";
  for (const { weight, matchSelector } of weightPriority) {
    if (weight < 0 || weight > 100) return "weight must be valid number in the range 1-100";
    if (isEmptySelector(matchSelector ?? {})) return "selector can not be empty";
    const [problem] = checkSelector("", matchSelector);
    if (problem) return `invalid selector ${problem.message}`;
  }
  return orderPriority.some(({ orderedKey }) => !orderedKey) ? "order key can not be empty" : undefined;
}

/** The first error in the label pairs of a scatter strategy. */
export function scatterProblem(terms: readonly Read<UpdateScatterTerm>[] | undefined): string | undefined {
  const seen = new Set<string>();
  for (const { key = "", value = "" } of terms ?? []) {
    if (key === "") return "key should not be empty";
    if (seen.has(`${key}:${value}`)) return `duplicated key=${key} value=${value}`;
    seen.add(`${key}:${value}`);
  }
  return undefined;
}

const PLAIN_NAME = "^[a-zA-Z0-9\\-]+$";
const MAX_NAME_LENGTH = 63;

/** Names that become pod labels: letters, digits and dashes. */
export const plainNameProblems =
  (kind: string) =>
  (name: string): string[] => [
    ...(new RegExp(PLAIN_NAME).test(name)
      ? []
      : [
          `${kind} name must consist of alphanumeric characters or '-' (e.g. 'example-com', regex used for validation is '${PLAIN_NAME}')`,
        ]),
    ...(name.length > MAX_NAME_LENGTH ? [`must be no more than ${MAX_NAME_LENGTH} characters`] : []),
  ];
