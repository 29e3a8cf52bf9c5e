/** What differs between two objects, field by field, for people. Pure; what Secrets hold is not shown. */
import { equalJson, isObject } from "../base/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";

export interface FieldChange {
  /** `spec.template.spec.containers[web].image` */
  path: string;
  /** Unset where the field is not there. */
  before?: Json;
  after?: Json;
}

export interface FieldDifference {
  fields: FieldChange[];
  /** Changes that are not listed one by one. */
  more: number;
}

/** More is of no use to people. */
const MAX_FIELDS = 50;
/** Manifests that the server takes are less deep; what lies below is compared as a whole. */
const MAX_DEPTH = 64;
const HIDDEN = "(hidden)";
/**
 * Compared key by key also where one side has none of them: among labels and annotations are some that nobody wants to
 * see.
 */
const METADATA = /^metadata(\.labels|\.annotations)?$/;

/** `isHidden` names paths that differ in every copy and mean nothing to people. */
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
      // The same items in another order.
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
    const shown = (value: unknown): Json => (isSecret && /^(data|stringData)\b/.test(path) ? HIDDEN : (value as Json));
    difference.fields.push({
      path,
      before: left !== undefined ? shown(left) : undefined,
      after: right !== undefined ? shown(right) : undefined,
    });
  }
}

/** Lists whose items have names are compared by them, as containers are; others as a whole. */
function byName(value: unknown): Map<string, unknown> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const items = new Map<string, unknown>();
  for (const item of value) {
    if (!isObject(item) || typeof item["name"] !== "string" || items.has(item["name"])) return undefined;
    items.set(item["name"], item);
  }
  return items;
}

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
/** A key with dots in it, such as most annotations, is set apart. */
const join = (path: string, key: string): string =>
  /^[A-Za-z0-9_-]+$/.test(key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
