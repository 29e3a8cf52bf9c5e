/**
 * ignoreFields: fields of a manifest that the member owns. Only these are left to the member; the rest of the object is
 * still maintained as the work specifies, whereas OCM's agent stops updating the whole object until the work changes.
 * Pure.
 *
 * `OnSpokePresent` leaves a field to the member as soon as the object exists, `OnSpokeChange` until the manifest
 * changes.
 */
import type { IgnoreField } from "@flotilla/ocm";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, messageOf, setOwn, type DeepReadonly } from "@flotilla/base";
import { isSameDelivery } from "../../delivery/marks.ts";
import type { RetainFn } from "../../delivery/delivery.ts";
import { compileStrictJsonPath } from "@flotilla/apimachinery";
import { compileJqPath } from "./jq-path.ts";
import { addPlace, type FieldLocations } from "./field-locations.ts";
import { WorkMistakeError } from "./work-mistake.ts";

type Object = DeepReadonly<KubernetesObject>;
type Finder = (object: unknown, places: FieldLocations) => void;

export class IgnoreFieldsError extends WorkMistakeError {}

/** Throws an `IgnoreFieldsError` for an invalid expression. */
export function retainIgnored(fields: readonly DeepReadonly<IgnoreField>[]): RetainFn {
  const present = findersOf(fields.filter(({ condition }) => condition !== "OnSpokeChange"));
  const changed = findersOf(fields.filter(({ condition }) => condition === "OnSpokeChange"));
  return (desired, observed) => {
    const finders = isSameDelivery(desired, observed) ? [...present, ...changed] : present;
    const places: FieldLocations = new Map();
    for (const find of finders) find(desired, places);
    return places.size === 0 ? desired : (take(desired, observed, places) as Object);
  };
}

function findersOf(fields: readonly DeepReadonly<IgnoreField>[]): Finder[] {
  return fields.flatMap(({ jsonPaths = [], jsonPointers = [], jqPathExpressions = [] }) => [
    ...jsonPaths.map(byPath),
    ...jsonPointers.map(byPointer),
    ...jqPathExpressions.map(byExpression),
  ]);
}

/**
 * As OCM reads it: the last name is a key of every map that the rest resolves to. A path that does not resolve ignores
 * nothing.
 */
function byPath(path: string): Finder {
  const dot = path.lastIndexOf(".");
  const key = path.slice(dot + 1);
  const follow = understood(`JSON path error in '${path}'`, () =>
    compileStrictJsonPath(path.slice(0, Math.max(dot, 0)) || "@"),
  );
  return (object, places) => {
    const holders = dot <= 0 ? [object] : (follow(object) ?? []);
    for (const holder of holders) if (isObject(holder) && Object.hasOwn(holder, key)) addPlace(places, holder, key);
  };
}

function byPointer(pointer: string): Finder {
  const error = `JSON Pointer error in '${pointer}'`;
  if (!pointer.startsWith("/")) throw new IgnoreFieldsError(`${error}: it does not start with a slash`);
  const steps = pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return (object, places) => {
    let holder: unknown = object;
    for (const step of steps.slice(0, -1)) holder = childOf(holder, step);
    const key = steps.at(-1) ?? "";
    if (childOf(holder, key) !== undefined) addPlace(places, holder as object, key);
  };
}

function byExpression(expression: string): Finder {
  return understood(`JQ expression error in '${expression}'`, () => compileJqPath(expression));
}

function understood<T>(error: string, compile: () => T): T {
  try {
    return compile();
  } catch (cause) {
    throw new IgnoreFieldsError(`${error}: ${messageOf(cause)}`);
  }
}

function childOf(holder: unknown, key: string): unknown {
  if (Array.isArray(holder)) return /^\d+$/.test(key) ? holder[Number(key)] : undefined;
  return isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
}

/**
 * The desired value with ignored parts replaced by the member's; parts that the member lacks are omitted. Shares
 * unchanged parts.
 */
function take(wanted: unknown, shown: unknown, places: FieldLocations): unknown {
  const keys = typeof wanted === "object" && wanted !== null ? places.get(wanted) : undefined;
  if (Array.isArray(wanted)) {
    const items = wanted.map((item, index) =>
      keys?.has(String(index)) ? (pairOf(item, index, shown) ?? item) : take(item, pairOf(item, index, shown), places),
    );
    return items.every((item, index) => item === wanted[index]) ? wanted : items;
  }
  if (!isObject(wanted)) return wanted;
  let result: Record<string, unknown> | undefined;
  for (const key of Object.keys(wanted)) {
    const theirs = childOf(shown, key);
    const next = keys?.has(key) ? theirs : take(wanted[key], theirs, places);
    if (next === wanted[key]) continue;
    result ??= { ...wanted };
    if (next === undefined) delete result[key];
    else setOwn(result, key, next);
  }
  return result ?? wanted;
}

/** The corresponding element of the member's list: by name if elements have names, otherwise by index. */
function pairOf(item: unknown, index: number, shown: unknown): unknown {
  if (!Array.isArray(shown)) return undefined;
  const name = childOf(item, "name");
  return name === undefined ? shown[index] : shown.find((other) => childOf(other, "name") === name);
}
