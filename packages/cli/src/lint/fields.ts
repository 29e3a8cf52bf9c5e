/** Reads fields of unvalidated manifests: values of an unexpected type count as missing. Pure. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

export type FieldPath = readonly (string | number)[];

export function valueAt(value: Json | undefined, ...path: FieldPath): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    if (typeof step === "number") found = Array.isArray(found) ? found[step] : undefined;
    // Only own keys: a path may contain `constructor`.
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found ?? undefined;
}

export function textAt(value: Json | undefined, ...path: FieldPath): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: Json | undefined, ...path: FieldPath): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function objectAt(value: Json | undefined, ...path: FieldPath): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

export function listAt(value: Json | undefined, ...path: FieldPath): readonly Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textsAt(value: Json | undefined, ...path: FieldPath): string[] {
  return listAt(value, ...path).filter((item) => typeof item === "string");
}

/** The list items that are mappings, each with its index. */
export function itemsAt(value: Json | undefined, ...path: FieldPath): { item: JsonObject; path: FieldPath }[] {
  return listAt(value, ...path).flatMap((item, index) => (isObject(item) ? [{ item, path: [...path, index] }] : []));
}

/** Strings by name, such as labels; other values are skipped. */
export function labelsAt(value: Json | undefined, ...path: FieldPath): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectAt(value, ...path)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** `spec.overrideRules[0].overriders` */
export function formatPath(path: FieldPath): string {
  return path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );
}

/** The steps of a JSON pointer: `/spec/a~1b` yields `spec` and `a/b`. A numeric step is a list index. */
export function pointerSteps(pointer: string): string[] {
  return pointer === ""
    ? []
    : pointer
        .replace(/^\//, "")
        .split("/")
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export const isPercent = (value: Json | undefined): value is string =>
  typeof value === "string" && /^\d+(\.\d+)?%$/.test(value);

/** A value as shown in a message. */
export const shown = (value: Json | undefined): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
