/** Field-by-field difference of two objects, for display. Pure; Secret data is not shown. */
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

export interface FieldChange {
  /** `spec.template.spec.containers[web].image` */
  path: string;
  /** Unset where the field is absent. */
  before?: Json;
  after?: Json;
}

export interface FieldDifference {
  fields: FieldChange[];
  /** Number of changes that are not listed. */
  more: number;
}

/** More changes are of no use to a reader. */
const MAX_FIELDS = 50;
/** The server rejects deeper manifests; anything below this depth is compared as a whole. */
const MAX_DEPTH = 64;
const HIDDEN = "(hidden)";
/** The data of a Secret in a list of manifests. */
const SECRET_INSIDE = /\[Secret [^\]]+\]\.(data|stringData)\b/;
/** Compared key by key even where one side has no labels or annotations, because some of the keys are hidden. */
const METADATA = /^metadata(\.labels|\.annotations)?$/;

/** `isHidden` matches paths that differ in every copy and are of no interest to users. */
export function compareFields(
  before: DeepReadonly<unknown>,
  after: DeepReadonly<unknown>,
  isHidden: (path: string) => boolean = () => false,
): FieldDifference {
  const difference: FieldDifference = { fields: [], more: 0 };
  const isSecret = [before, after].some(
    (object) => isObject(object) && object["kind"] === "Secret" && object["apiVersion"] === "v1",
  );
  walk("", before, after, 0);
  return difference;

  function walk(path: string, left: unknown, right: unknown, depth: number): void {
    if (isHidden(path) || equalJson(left, right)) return;
    if (METADATA.test(path)) return compareKeys(path, left ?? {}, right ?? {}, depth);
    if (depth < MAX_DEPTH && isObject(left) && isObject(right)) return compareKeys(path, left, right, depth);
    const [leftByName, rightByName] = [byName(left), byName(right)];
    if (depth < MAX_DEPTH && leftByName && rightByName) {
      for (const name of new Set([...leftByName.keys(), ...rightByName.keys()]))
        walk(`${path}[${name}]`, leftByName.get(name), rightByName.get(name), depth + 1);
      // The same items in a different order.
      if (equalJson(Object.fromEntries(leftByName), Object.fromEntries(rightByName))) note(path, left, right);
      return;
    }
    note(path, left, right);
  }

  function compareKeys(path: string, left: unknown, right: unknown, depth: number): void {
    if (!isObject(left) || !isObject(right)) return note(path, left, right);
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      walk(join(path, key), own(left, key), own(right, key), depth + 1);
  }

  function note(path: string, left: unknown, right: unknown): void {
    if (difference.fields.length === MAX_FIELDS) {
      difference.more++;
      return;
    }
    const isHiddenData = (isSecret && /^(data|stringData)\b/.test(path)) || SECRET_INSIDE.test(path);
    const shown = (value: unknown): Json => (isHiddenData ? HIDDEN : withoutSecrets(value as Json));
    difference.fields.push({
      path,
      before: left !== undefined ? shown(left) : undefined,
      after: right !== undefined ? shown(right) : undefined,
    });
  }
}

/** The value with the data of Secrets in it hidden: a ManifestWork contains whole objects. */
function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value) || value["kind"] !== "Secret" || value["apiVersion"] !== "v1") return value;
  const hidden = (key: string): JsonObject => (key in value ? { [key]: HIDDEN } : {});
  return { ...value, ...hidden("data"), ...hidden("stringData") };
}

/**
 * Lists whose items have names, such as containers, are compared by name, lists of manifests by kind and name; other
 * lists as a whole.
 */
function byName(value: unknown): Map<string, unknown> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const items = new Map<string, unknown>();
  for (const item of value) {
    const name = nameOf(item);
    if (name === undefined || items.has(name)) return undefined;
    items.set(name, item);
  }
  return items;
}

function nameOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  const { name, kind, metadata } = item;
  if (typeof name === "string") return name;
  if (typeof kind !== "string" || !isObject(metadata) || typeof metadata["name"] !== "string") return undefined;
  return `${kind} ${typeof metadata["namespace"] === "string" ? `${metadata["namespace"]}/` : ""}${metadata["name"]}`;
}

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
/** Keys that contain dots, such as most annotation keys, are quoted. */
const join = (path: string, key: string): string =>
  /^[A-Za-z0-9_-]+$/.test(key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
