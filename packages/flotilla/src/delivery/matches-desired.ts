/** Compares desired and observed state. Pure. */
import { isObject, isWithoutKeys } from "@flotilla/base";

/**
 * Whether everything that `desired` specifies holds in `observed`. A member adds defaults and status, so additional
 * fields are allowed; lists must have the same length, because an extra element is a difference.
 */
export function holdsIn(desired: unknown, observed: unknown): boolean {
  // A pod template is usually one object from the hub to the member.
  if (desired === observed) return true;
  if (Array.isArray(desired)) {
    return (
      Array.isArray(observed) &&
      desired.length === observed.length &&
      desired.every((item, index) => holdsIn(item, observed[index]))
    );
  }
  if (isObject(desired)) {
    if (!isObject(observed)) return isWithoutKeys(desired) && observed === undefined;
    for (const key in desired) if (!holdsIn(desired[key], observed[key])) return false;
    return true;
  }
  // In a manifest, null means that a field has no value.
  return desired === null && observed === undefined;
}

/** A copy without the value at a dotted path, sharing the rest. */
export function withoutPath<T>(object: T, path: string): T {
  const [first = "", ...rest] = path.split(".");
  if (!isObject(object) || !(first in object)) return object;
  const result: Record<string, unknown> = { ...object };
  if (rest.length === 0) delete result[first];
  else result[first] = withoutPath(result[first], rest.join("."));
  return result as T;
}
