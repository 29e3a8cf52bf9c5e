/**
 * CEL values of JSON without a schema, for Open Cluster Management's expressions: whole numbers are ints and others
 * doubles, and nothing is converted before an expression reads it.
 */
import { isLongInteger } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { ArrayList, equalElements, itemsOf } from "./collections.ts";
import { equal } from "./equality.ts";
import { intOf } from "./numbers.ts";
import { CelDouble, CelError, CelList, CelMap, type CelValue } from "./values.ts";

type ReadJson = DeepReadonly<Json>;
type NumberValue = (value: number) => CelValue;

/** As an untyped decoder reads numbers. */
const asDouble: NumberValue = (value) => new CelDouble(value);
const asWhole: NumberValue = (value) => {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? intOf(BigInt(value)) : new CelDouble(value);
};

/** The value of JSON that is part of an API object. */
export const dynamicValueOf = (json: ReadJson): CelValue => valueOf(json, asWhole);
/** The value of JSON that was parsed from a string: every number is a double. */
export const parsedValueOf = (json: ReadJson): CelValue => valueOf(json, asDouble);

function valueOf(json: ReadJson | undefined, numbers: NumberValue): CelValue {
  if (json === undefined || json === null) return null;
  if (typeof json === "number") return numbers(json);
  if (isLongInteger(json)) return intOf(json);
  if (typeof json !== "object") return json;
  if (Array.isArray(json)) return new DynamicList(json as readonly ReadJson[], numbers);
  return new DynamicMap(json as DeepReadonly<JsonObject>, numbers);
}

class DynamicMap extends CelMap {
  readonly #json: DeepReadonly<JsonObject>;
  readonly #numbers: NumberValue;

  constructor(json: DeepReadonly<JsonObject>, numbers: NumberValue) {
    super();
    this.#json = json;
    this.#numbers = numbers;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  find(key: CelValue): CelValue | undefined {
    if (key instanceof CelError) return key;
    return typeof key === "string" && Object.hasOwn(this.#json, key)
      ? valueOf(this.#json[key], this.#numbers)
      : undefined;
  }

  keys(): readonly CelValue[] {
    return Object.keys(this.#json);
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelMap) || other.size !== this.size) return false;
    return Object.keys(this.#json).every((key) => {
      const theirs = other.find(key);
      return (
        theirs !== undefined &&
        !(theirs instanceof CelError) &&
        equal(valueOf(this.#json[key], this.#numbers), theirs) !== false
      );
    });
  }
}

class DynamicList extends CelList {
  readonly #json: readonly ReadJson[];
  readonly #numbers: NumberValue;

  constructor(json: readonly ReadJson[], numbers: NumberValue) {
    super();
    this.#json = json;
    this.#numbers = numbers;
  }

  get size(): number {
    return this.#json.length;
  }

  at(index: number): CelValue {
    return valueOf(this.#json[index], this.#numbers);
  }

  equals(other: CelValue): boolean {
    return other instanceof CelList && equalElements(this, other);
  }

  add(other: CelList): CelList {
    return new ArrayList([...itemsOf(this), ...itemsOf(other)]);
  }
}
