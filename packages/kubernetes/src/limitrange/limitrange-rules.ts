/** Defaults and validation of LimitRange. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkText,
  compareQuantities,
  field,
  formatQuantity,
  labelKeyProblems,
  parseQuantity,
  quantityMilliValue,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Quantity, Sent } from "@flotilla/apimachinery";
import type { LimitRangeItem } from "@flotilla/apimachinery/facts/core-v1.ts";
import {
  checkContainerResourceName,
  checkResourceName,
  mayBeOvercommitted,
  roundAmounts,
} from "../resources/resource-names.ts";
import { LimitRange } from "./limitrange-kind.ts";

type Item = Sent<LimitRangeItem>;
type Amounts = Readonly<Record<string, string | number>>;

/** Defaults for containers: limits from the maximum, requests from limits, then from the minimum. */
function defaultItem(given: DeepReadonly<LimitRangeItem>): DeepReadonly<LimitRangeItem> {
  let item = given;
  for (const list of ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const)
    item = change(item, list, roundAmounts);
  if (item.type !== "Container") return item;
  const limits: Amounts = { ...item.max, ...item.default };
  const requests: Amounts = { ...item.min, ...limits, ...item.defaultRequest };
  const { default: _d, defaultRequest: _r, ...rest } = item;
  return {
    ...rest,
    default: Object.keys(limits).length > 0 ? limits : undefined,
    defaultRequest: Object.keys(requests).length > 0 ? requests : undefined,
  };
}

/** An empty list of limits is stored as absent, regardless of its writer. */
function dropEmptyLimits<T extends { readonly limits?: readonly unknown[] }>(spec: T): T {
  if (spec.limits?.length !== 0) return spec;
  const { limits: _, ...rest } = spec;
  return rest as T;
}

const TYPES = new Set(["Pod", "Container", "PersistentVolumeClaim"]);

function checkType(path: string, type: string): FieldError[] {
  const errors = checkText(path, type, labelKeyProblems);
  if (errors.length > 0 || type.includes("/") || TYPES.has(type)) return errors;
  return [field.invalid(path, type, "must be a standard limit type or fully qualified")];
}

function checkItem(at: string, item: Item): FieldError[] {
  const { type = "", max = {}, min = {}, maxLimitRequestRatio = {} } = item;
  const names = (list: string, amounts: Amounts): FieldError[] =>
    Object.keys(amounts).flatMap((name) =>
      (type === "Pod" || type === "Container" ? checkContainerResourceName : checkResourceName)(
        `${at}.${list}[${name}]`,
        name,
      ),
    );
  const { default: limits = {}, defaultRequest: requests = {} } = item;
  const errors = [...names("max", max), ...names("min", min)];
  if (type === "Pod") {
    if (Object.keys(limits).length > 0)
      errors.push(field.forbidden(`${at}.default`, "may not be specified when `type` is 'Pod'"));
    if (Object.keys(requests).length > 0)
      errors.push(field.forbidden(`${at}.defaultRequest`, "may not be specified when `type` is 'Pod'"));
  } else errors.push(...names("default", limits), ...names("defaultRequest", requests));
  if (type === "PersistentVolumeClaim" && min.storage === undefined && max.storage === undefined) {
    errors.push(
      field.required(`${at}.limits`, "either minimum or maximum storage value is required, but neither was provided"),
    );
  }
  errors.push(...names("maxLimitRequestRatio", maxLimitRequestRatio));
  const given =
    type === "Pod" ? { max, min, maxLimitRequestRatio } : { max, min, limits, requests, maxLimitRequestRatio };
  for (const name of new Set(Object.values(given).flatMap((amounts) => Object.keys(amounts)))) {
    const read = (amounts: Amounts | undefined): Quantity | undefined =>
      amounts?.[name] === undefined ? undefined : parseQuantity(amounts[name]);
    errors.push(
      ...checkBounds(at, name, {
        max: read(max),
        min: read(min),
        limit: read(given.limits),
        request: read(given.requests),
        ratio: read(maxLimitRequestRatio),
      }),
    );
  }
  return errors;
}

type Bounds = Record<"max" | "min" | "limit" | "request" | "ratio", Quantity | undefined>;

const ONE = parseQuantity("1");

/**
 * Checks the amounts of one resource against each other. The real server prints the minimum or maximum where a default
 * is wrong.
 */
function checkBounds(at: string, name: string, bounds: Bounds): FieldError[] {
  const { max, min, limit, request, ratio } = bounds;
  const errors: FieldError[] = [];
  const text = formatQuantity;
  const above = (
    a: Quantity | undefined,
    b: Quantity | undefined,
    list: string,
    shown: Quantity | undefined,
    say: (a: string, b: string) => string,
  ): void => {
    if (a && b && compareQuantities(a, b) > 0)
      errors.push(field.invalid(`${at}.${list}[${name}]`, shown && text(shown), say(text(a), text(b))));
  };
  above(min, max, "min", min, (a, b) => `min value ${a} is greater than max value ${b}`);
  above(min, request, "defaultRequest", request, (a, b) => `min value ${a} is greater than default request value ${b}`);
  above(request, max, "defaultRequest", request, (a, b) => `default request value ${a} is greater than max value ${b}`);
  above(
    request,
    limit,
    "defaultRequest",
    request,
    (a, b) => `default request value ${a} is greater than default limit value ${b}`,
  );
  above(min, limit, "default", min, (a, b) => `min value ${a} is greater than default value ${b}`);
  above(limit, max, "default", max, (a, b) => `default value ${a} is greater than max value ${b}`);
  above(ratio && ONE, ratio, "maxLimitRequestRatio", ratio, (_, b) => `ratio ${b} is less than 1`);
  if (ratio && min && max) {
    const most = Number(quantityMilliValue(max)) / Number(quantityMilliValue(min));
    const wanted = Number(quantityMilliValue(ratio)) / 1000;
    if (wanted > most)
      errors.push(
        field.invalid(
          `${at}.maxLimitRequestRatio[${name}]`,
          text(ratio),
          `ratio ${text(ratio)} is greater than max/min = ${goFloat(most)}`,
        ),
      );
  }
  if (!mayBeOvercommitted(name) && limit && request && compareQuantities(limit, request) !== 0) {
    errors.push(
      field.invalid(
        `${at}.defaultRequest[${name}]`,
        text(request),
        `default value ${text(limit)} must equal to defaultRequest value ${text(request)} in ${name}`,
      ),
    );
  }
  return errors;
}

/** A number as Go prints it with six decimals. */
const goFloat = (value: number): string =>
  Number.isFinite(value) ? value.toFixed(6) : value > 0 ? "+Inf" : Number.isNaN(value) ? "NaN" : "-Inf";

function checkLimits(items: readonly Item[]): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const at = `spec.limits[${index}]`;
    const { type = "" } = item;
    const errors = [...checkType(`${at}.type`, type), ...(seen.has(type) ? [field.duplicate(`${at}.type`, type)] : [])];
    seen.add(type);
    return [...errors, ...checkItem(at, item)];
  });
}

export const rules: AnyAdmission[] = [
  builtInAdmission(LimitRange, "core-v1", {
    complete: (range, { oldObject }) =>
      change(range, "spec", (spec) => {
        // An empty list where none is stored is not a change, so its writer does not become an owner.
        const kept =
          oldObject && (oldObject as Sent<LimitRange>).spec?.limits === undefined ? dropEmptyLimits(spec) : spec;
        return change(kept, "limits", (limits) => changeItems(limits, defaultItem));
      }),
    prepare: (range) => change(range, "spec", dropEmptyLimits),
    validate: ({ object }) => checkLimits(object.spec?.limits ?? []),
  }),
];
