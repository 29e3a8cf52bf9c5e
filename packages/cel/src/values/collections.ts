/** Lists and maps that expressions create. Those of objects under validation are in `json-values.ts`. */
import { equal } from "./equality.ts";
import { CelDouble, CelError, CelList, CelMap, CelUint, type CelValue, typeNameOf } from "./values.ts";

export class ArrayList extends CelList {
  readonly items: readonly CelValue[];
  constructor(items: readonly CelValue[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  at(index: number): CelValue {
    return this.items[index] as CelValue;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelList && equalElements(this, other);
  }

  add(other: CelList): CelList {
    if (this.size === 0) return other;
    return other.size === 0 ? this : new ArrayList([...this.items, ...itemsOf(other)]);
  }
}

export const EMPTY_LIST = new ArrayList([]);

/** Elements in order; an incomparable element does not count as different. */
export function equalElements(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false;
  for (let index = 0; index < a.size; index++) if (equal(a.at(index), b.at(index)) === false) return false;
  return true;
}

export function itemsOf(list: CelList): readonly CelValue[] {
  return list instanceof ArrayList ? list.items : Array.from({ length: list.size }, (_, index) => list.at(index));
}

/** A map created by an expression. Equal numbers are one key, regardless of their type. */
export class HashMap extends CelMap {
  private readonly entries = new Map<string | number | bigint | boolean, readonly [CelValue, CelValue]>();

  get size(): number {
    return this.entries.size;
  }

  set(key: CelValue, value: CelValue): void {
    this.entries.set(hashOf(key), [key, value]);
  }

  find(key: CelValue): CelValue | undefined {
    return this.entries.get(hashOf(key))?.[1];
  }

  remove(key: CelValue): void {
    this.entries.delete(hashOf(key));
  }

  keys(): readonly CelValue[] {
    return Array.from(this.entries.values(), ([key]) => key);
  }

  /** Like `set`, but an existing key is an error. */
  insert(key: CelValue, value: CelValue): CelError | undefined {
    if (this.entries.has(hashOf(key))) return new CelError(`insert failed: key ${describe(key)} already exists`);
    this.set(key, value);
    return undefined;
  }

  copy(): HashMap {
    const copy = new HashMap();
    for (const [key, value] of this.entries.values()) copy.set(key, value);
    return copy;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelMap) || other.size !== this.size) return false;
    for (const [key, value] of this.entries.values()) {
      const found = other.find(key);
      if (found === undefined || found instanceof CelError || equal(value, found) === false) return false;
    }
    return true;
  }
}

/** An object that an expression created: `Object.spec{replicas: 3}`. */
export class MessageValue extends HashMap {
  readonly typeName: string;
  constructor(typeName: string) {
    super();
    this.typeName = typeName;
  }

  /** The value of a field that was not set: empty for the strings of a JSON patch, else null. */
  unset(field: CelValue): CelValue {
    return this.typeName === "JSONPatch" && field !== "value" ? "" : null;
  }

  override equals(other: CelValue): boolean {
    return other instanceof MessageValue && other.typeName === this.typeName && super.equals(other);
  }
}

/** The hash of a key. Strings have a prefix, so that `"1"` is not `1`. */
function hashOf(key: CelValue): string | number | bigint | boolean {
  if (typeof key === "string") return `"${key}`;
  if (typeof key === "number" || typeof key === "bigint" || typeof key === "boolean") return key;
  if (key instanceof CelUint) return key.value <= 9007199254740991n ? Number(key.value) : key.value;
  if (key instanceof CelDouble) return key.value;
  // Other values can be keys in a literal; a lookup never finds them.
  return `?${typeNameOf(key)}`;
}

/** A scalar as error messages show it. */
export function describe(value: CelValue): string {
  if (value instanceof CelUint || value instanceof CelDouble) return String(value.value);
  if (value instanceof CelError) return value.message;
  return typeof value === "object" ? "" : String(value);
}
