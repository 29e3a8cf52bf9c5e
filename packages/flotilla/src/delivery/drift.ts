/**
 * Finds where a member's object differs from the delivered manifest, field by field, and who changed it. Pure.
 *
 * A field whose value differs is drift only when we no longer own it. A server that normalizes `1000m` to `1`, or a
 * webhook that fills in a value, leaves the field with its owner, while a client that changes a value becomes its
 * owner. The list type (keyed, set or atomic) is read from managedFields too, so no schema of the member is needed.
 */
import { unionOf } from "@flotilla/apimachinery";
import type { FieldSet, ManagedFieldsEntry } from "@flotilla/apimachinery";
import { equalJson, isObject, isWithoutKeys, ownOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { holdsIn } from "./matches-desired.ts";

/** One field that differs from the delivered value. */
export interface FieldDrift {
  /** The path in managedFields notation: `f:spec`, `k:{"name":"web"}`. */
  steps: readonly string[];
  ours: Json;
  /** Undefined when it was removed, or does not exist. */
  theirs: Json | undefined;
  /** The current owner, and since when; undefined without an owner. */
  by?: { manager: string; time?: string };
}

type Entry = DeepReadonly<ManagedFieldsEntry>;

export function findDrift(
  desired: unknown,
  observed: unknown,
  managedFields: readonly Entry[],
  manager: string,
): FieldDrift[] {
  const setsOf = (entries: readonly Entry[]): FieldSet | undefined =>
    entries.map(fieldsOf).reduce<FieldSet | undefined>(unionOf, undefined);
  const ours = setsOf(managedFields.filter((entry) => entry.manager === manager));
  const others = managedFields.filter((entry) => entry.manager !== manager && entry.subresource !== "status");
  const all = unionOf(ours, setsOf(others));
  const found: FieldDrift[] = [];

  function visit(
    wanted: unknown,
    shown: unknown,
    own: FieldSet | undefined,
    known: FieldSet | undefined,
    steps: readonly string[],
  ): void {
    if (isObject(wanted) && isObject(shown)) {
      for (const key of Object.keys(wanted))
        visit(wanted[key], ownOf(shown, key), below(own, `f:${key}`, known), below(known, `f:${key}`, known), [
          ...steps,
          `f:${key}`,
        ]);
      return;
    }
    if (Array.isArray(wanted) && Array.isArray(shown)) {
      const keys = elementKeys(known);
      if (keys) return visitElements(wanted, shown, keys, own, known, steps);
      if (isOfValues(known) && wanted.every((item) => shown.some((other) => equalJson(item, other)))) return;
    }
    if (holdsIn(wanted, shown) || (shown !== undefined && own !== undefined && isMember(own))) return;
    const by = ownerOf(others, steps, all);
    found.push({ steps, ours: wanted as Json, theirs: shown as Json | undefined, by });
  }

  function visitElements(
    wanted: readonly unknown[],
    shown: readonly unknown[],
    keys: readonly string[],
    own: FieldSet | undefined,
    known: FieldSet | undefined,
    steps: readonly string[],
  ): void {
    const stepOf = (item: unknown): string =>
      `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, ownOf(item, key)])))}`;
    const byStep = new Map(shown.map((item) => [stepOf(item), item]));
    for (const item of wanted) {
      // Only an element whose key is incomplete needs a search.
      const match =
        byStep.get(stepOf(item)) ??
        (keys.every((key) => ownOf(item, key) !== undefined)
          ? undefined
          : shown.find((other) => isSameElement(item, other, keys)));
      const step = stepOf(match ?? item);
      visit(item, match, below(own, step, known), below(known, step, known), [...steps, step]);
    }
  }

  visit(desired, observed, ours, all, []);
  return found;
}

/** The object without the fields at these paths; their parents stay. */
export function withoutSteps<T>(object: T, steps: readonly string[]): T {
  const [first = "", ...rest] = steps;
  if (first.startsWith("k:") && Array.isArray(object)) {
    const key = parseKey(first) ?? {};
    const isIt = (item: unknown): boolean => isSameElement(item, key, Object.keys(key));
    const items: unknown[] =
      rest.length === 0
        ? object.filter((item) => !isIt(item))
        : object.map((item: unknown) => (isIt(item) ? withoutSteps(item, rest) : item));
    return items as T;
  }
  const name = first.slice("f:".length);
  if (!isObject(object) || !Object.hasOwn(object, name)) return object;
  const { [name]: value, ...others } = object;
  return (rest.length === 0 ? others : { ...object, [name]: withoutSteps(value, rest) }) as T;
}

/** `spec.template.spec.containers[name=web].image`. */
export function formatSteps(steps: readonly string[]): string {
  return steps
    .map((step) => (step.startsWith("k:") ? `[${formatKey(parseKey(step) ?? {})}]` : `.${step.slice("f:".length)}`))
    .join("")
    .slice(1);
}

const formatKey = (key: JsonObject): string =>
  Object.entries(key)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(",");
/** An entry that lists nothing owns nothing. */
const fieldsOf = ({ fieldsV1 }: Entry): FieldSet | undefined =>
  isObject(fieldsV1) && !isWithoutKeys(fieldsV1) ? fieldsV1 : undefined;
/**
 * Everything below an atomically owned field is owned with it. A map of which only the map itself is owned looks the
 * same; the two are distinguished by whether another manager owns something in it.
 */
function below(set: FieldSet | undefined, step: string, known: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined) return undefined;
  if (isWithoutKeys(set)) return known !== undefined && isWithoutKeys(known) ? set : undefined;
  return Object.hasOwn(set, step) ? (set[step] as FieldSet) : undefined;
}

const isMember = (set: FieldSet): boolean => isWithoutKeys(set) || Object.hasOwn(set, ".");

function ownerOf(entries: readonly Entry[], steps: readonly string[], all: FieldSet | undefined): FieldDrift["by"] {
  let newest: Entry | undefined;
  for (const entry of entries) {
    let set = fieldsOf(entry);
    let known = all;
    for (const step of steps) [set, known] = [below(set, step, known), below(known, step, known)];
    if (set !== undefined && (newest === undefined || (entry.time ?? "") > (newest.time ?? ""))) newest = entry;
  }
  return newest && { manager: newest.manager ?? "", time: newest.time || undefined };
}

/** The key fields of a list's elements; undefined for lists without keys. */
function elementKeys(set: FieldSet | undefined): string[] | undefined {
  for (const step in set) {
    const keys = step.startsWith("k:") ? Object.keys(parseKey(step) ?? {}) : [];
    if (keys.length > 0) return keys;
  }
  return undefined;
}

/** The key of an element, `k:{"name":"web"}`. Records come from members; a malformed key matches no element. */
export function parseKey(step: string): JsonObject | undefined {
  try {
    const key: unknown = JSON.parse(step.slice("k:".length));
    return isObject(key) ? key : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isOfValues(set: FieldSet | undefined): boolean {
  for (const step in set) if (step.startsWith("v:")) return true;
  return false;
}

/** The server defaults a key that a manifest omits, such as the protocol of a port. */
function isSameElement(wanted: unknown, shown: unknown, keys: readonly string[]): boolean {
  return keys.every((key) => {
    const value = ownOf(wanted, key);
    return value === undefined || equalJson(value, ownOf(shown, key));
  });
}
