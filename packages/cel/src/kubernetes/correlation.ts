/**
 * Finds the old value that corresponds to a value under validation, and whether the two are equal. A failure on a value
 * that an update did not change is accepted (validation ratcheting): the object was already invalid.
 */
import { equalJson, isObject, type Json } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";

interface Pair {
  readonly value: Json;
  readonly old: Json;
  readonly schema: Schema;
  isEqual?: boolean;
}

export class Correlation {
  /** Nothing to compare with: the object is being created. */
  static readonly none = new Correlation(undefined, undefined);
  private readonly current: Pair | undefined;
  /** The closest enclosing value that has an old one, for values that have none. */
  private readonly nearest: Pair | undefined;

  private constructor(current: Pair | undefined, nearest: Pair | undefined) {
    this.current = current;
    this.nearest = nearest;
  }

  static root(value: Json, old: Json, schema: Schema): Correlation {
    return new Correlation({ value, old, schema }, undefined);
  }

  /** For rules that do not depend on the value alone. */
  get withoutCurrent(): Correlation {
    return this.current === undefined ? this : new Correlation(undefined, this.nearest);
  }

  key(key: string): Correlation {
    if (!this.current) return this;
    // Both objects have been converted to one version, so a version change is not visible.
    if (!this.nearest && (key === "apiVersion" || key === "kind")) return Correlation.none;
    return new Correlation(pairAtKey(this.current, key), this.current);
  }

  index(index: number): Correlation {
    return this.current ? new Correlation(pairAtIndex(this.current, index), this.current) : this;
  }

  /** Reports whether the value, or the closest enclosing comparable value, is unchanged. */
  get isUnchanged(): boolean {
    const pair = this.current ?? this.nearest;
    return pair !== undefined && isEqual(pair);
  }
}

function pairAtKey({ value, old, schema }: Pair, key: string): Pair | undefined {
  if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, key) || !Object.hasOwn(old, key)) return undefined;
  const { properties, additionalProperties } = schema;
  const child = properties && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
  return typeof child === "object" ? { value: value[key] as Json, old: old[key] as Json, schema: child } : undefined;
}

function pairAtIndex({ value, old, schema }: Pair, index: number): Pair | undefined {
  if (!Array.isArray(value) || !Array.isArray(old) || !schema.items || index >= value.length) return undefined;
  const item = value[index] as Json;
  const before = counterpartsIn(schema, old)?.(item);
  return before === undefined || before === null ? undefined : { value: item, old: before, schema: schema.items };
}

/** Fields unknown to the schema count as changed; elements of a map list may have moved. */
function isEqual(pair: Pair): boolean {
  return (pair.isEqual ??= compare(pair));
}

function compare(pair: Pair): boolean {
  const { value, old, schema } = pair;
  if (Array.isArray(value)) {
    if (!Array.isArray(old) || value.length !== old.length) return false;
    if (schema["x-kubernetes-list-type"] !== "map") return equalJson(value, old);
    return value.every((_, index) => {
      const child = pairAtIndex(pair, index);
      return child !== undefined && isEqual(child);
    });
  }
  if (!isObject(value)) return equalJson(value, old);
  if (!isObject(old) || Object.keys(value).length !== Object.keys(old).length) return false;
  return Object.keys(value).every((key) => {
    const child = pairAtKey(pair, key);
    return child !== undefined && isEqual(child);
  });
}

/** The elements of old lists by their keys. Another version's schema may have other keys for the same list. */
const indexes = new WeakMap<readonly Json[], { schema: Schema; byKey: ReadonlyMap<string, Json> }>();

/** Finds the old element with the keys of a new one; undefined for lists whose elements have no identity. */
export function counterpartsIn(schema: Schema, old: readonly Json[]): ((item: Json) => Json | undefined) | undefined {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0 || old.length === 0) return undefined;
  let index = indexes.get(old);
  if (index?.schema !== schema) {
    const made = new Map<string, Json>();
    for (const item of old) {
      const key = identityOf(item, keys);
      if (key !== undefined && !made.has(key)) made.set(key, item);
    }
    indexes.set(old, (index = { schema, byKey: made }));
  }
  const { byKey } = index;
  return (item) => {
    const key = identityOf(item, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

/** Undefined when a key is missing or not a scalar. */
function identityOf(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const values: Json[] = [];
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (value === undefined || value === null || typeof value === "object") return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
