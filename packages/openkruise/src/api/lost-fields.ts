/** Fields of an object that another version of its kind lacks. */
import { isObject, type JsonObject } from "@flotilla/base";

/** For kinds whose v1beta1 has these fields, which v1alpha1 has neither as a field nor as an annotation. */
export const onlyInBeta =
  (...paths: readonly string[]) =>
  (version: string): readonly string[] =>
    version === "v1alpha1" ? paths : [];

/** The paths at which the object has a value. */
export const setFields = (object: JsonObject, paths: readonly string[]): string[] =>
  paths.filter((path) => isSet(valueAt(object, path)));

export function valueAt(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const field of path.split(".")) value = isObject(value) ? value[field] : undefined;
  return value;
}

/** Empty and false values count as unset. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.values(value).some(isSet);
}
