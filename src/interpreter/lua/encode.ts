/**
 * A table as JSON again. Nodes that no script has changed come back as the very objects that went in, so that a result shares
 * with its input whatever stayed the same.
 */
import type { Json, JsonObject } from "../../base/index.ts";
import { Table } from "./table.ts";
import { typeOf } from "./values.ts";
import type { LuaValue } from "./values.ts";

/** A table cannot be said in JSON. The text is the one of Karmada's encoder, which names the depth. */
export class EncodeError extends Error {
  constructor(problem: string, depth: number) {
    super(`encode lua result to json failed: ${"json: error calling MarshalJSON for type json.jsonValue: ".repeat(depth)}${problem}`);
  }
}

/** What becomes of empty tables inside a result. */
export interface EmptyRule {
  /** By the place, positions left aside; undefined drops it. */
  at(path: readonly string[]): Json | undefined;
  /** Whether what lies in this root, unchanged and at its own place, is right as it is. */
  isReference(root: object): boolean;
  /** Empty values of JSON that has come to another place. */
  moved(json: Json, path: string[]): Json | undefined;
}

/** Told of each table that is written, with the number of its entries. It may throw to end the work. */
export type Charge = (entries: number) => void;

const MAX_DEPTH = 500;

/** Throws `EncodeError`, and what `charge` throws. An empty root is an empty list, and without a rule so is every empty table. */
export function encode(table: Table, charge: Charge, emptyRule?: EmptyRule): Json {
  return new Encoder(charge, emptyRule).root(table);
}

function hasNamesOnly(entries: readonly [LuaValue, unknown][]): entries is readonly [string, unknown][] {
  for (const [key] of entries) if (typeof key !== "string") return false;
  return true;
}

class Encoder {
  readonly #emptyRule: EmptyRule | undefined;
  readonly #charge: Charge;
  readonly #open = new Set<Table>();
  readonly #path: string[] = [];
  #depth = 0;

  constructor(charge: Charge, emptyRule: EmptyRule | undefined) {
    this.#emptyRule = emptyRule;
    this.#charge = charge;
  }

  root(table: Table): Json {
    const isInPlace = this.#emptyRule === undefined || (table.origin !== undefined && this.#emptyRule.isReference(table.origin));
    return this.#table(table, isInPlace) ?? [];
  }

  /** Undefined for an empty table that the rule drops. */
  #table(table: Table, isInPlace: boolean): Json | undefined {
    this.#depth += 1;
    if (this.#open.has(table)) throw new EncodeError("cannot encode recursively nested tables to JSON", this.#depth);
    if (this.#depth > MAX_DEPTH) throw new EncodeError(`cannot encode more than ${MAX_DEPTH} nested tables to JSON`, 1);
    this.#open.add(table);
    const json = this.#isUntouched(table) ? this.#unread(table.origin as Json, isInPlace) : this.#content(table, isInPlace);
    this.#open.delete(table);
    this.#depth -= 1;
    return json;
  }

  #isUntouched(table: Table): boolean {
    if (table.origin === undefined || table.w || table.owned || table.m !== undefined) return false;
    if (Array.isArray(table.origin) && table.a !== table.origin) return false;
    for (const kid of table.kids?.values() ?? []) if (!this.#isUntouched(kid)) return false;
    return true;
  }

  /** JSON that the script did not change. */
  #unread(json: Json, isInPlace: boolean): Json | undefined {
    return isInPlace || this.#emptyRule === undefined ? json : this.#emptyRule.moved(json, this.#path);
  }

  #content(table: Table, isInPlace: boolean): Json | undefined {
    const length = table.length();
    const isList = length > 0;
    const entries = this.#entries(table);
    this.#charge(length + entries.length);
    if (isList) {
      for (let position = 1; position <= length; position++) if (table.a[position - 1] === undefined) throw new EncodeError("cannot encode sparse array", this.#depth);
      if (entries.length > 0) throw new EncodeError(typeof entries[0]?.[0] === "number" ? "cannot encode sparse array" : "cannot encode mixed or invalid key types", this.#depth);
      return this.#list(table, length, isInPlace && Array.isArray(table.origin) ? table.origin : undefined);
    }
    const [first] = entries;
    if (first === undefined) return this.#depth === 1 ? undefined : this.#emptyRule ? this.#emptyRule.at(this.#path) : [];
    if (typeof first[0] === "number") throw new EncodeError("cannot encode sparse array", this.#depth);
    return this.#object(entries, isInPlace && !Array.isArray(table.origin) ? (table.origin as JsonObject | undefined) : undefined);
  }

  /** Keys that are no positions, with their values: JSON that nobody read, or Lua values. */
  #entries(table: Table): [LuaValue, unknown][] {
    const entries: [LuaValue, unknown][] = [];
    if (table.m !== undefined) {
      for (const [key, value] of table.m) if (value !== undefined) entries.push([key, value]);
      return entries;
    }
    for (const key of Object.keys(table.h)) {
      const value = table.h[key];
      if (value !== undefined && value !== null) entries.push([key, typeof value === "object" ? (table.kids?.get(key) ?? value) : value]);
    }
    return entries;
  }

  /** `origin` is there when the object lies where it came from; what it had at a key is then in place as well. */
  #object(entries: readonly [LuaValue, unknown][], origin: JsonObject | undefined): JsonObject {
    const object: JsonObject = {};
    // What is wrong with a table itself is said before what is wrong inside it.
    if (!hasNamesOnly(entries)) throw new EncodeError("cannot encode mixed or invalid key types", this.#depth);
    for (const [key, value] of entries) {
      this.#path.push(key);
      const json = this.#value(value, origin?.[key]);
      this.#path.pop();
      if (json === undefined) continue;
      const name = key.isWellFormed() ? key : key.toWellFormed();
      if (name === "__proto__") Object.defineProperty(object, name, { value: json, enumerable: true, configurable: true, writable: true });
      else object[name] = json;
    }
    return object;
  }

  #list(table: Table, length: number, origin: Json[] | undefined): Json[] {
    const list: Json[] = [];
    for (let position = 1; position <= length; position++) {
      const raw = table.a[position - 1];
      const json = this.#value(typeof raw === "object" ? (table.kids?.get(position) ?? raw) : raw, origin?.[position - 1]);
      if (json !== undefined) list.push(json);
    }
    return list;
  }

  #value(value: unknown, original: Json | undefined): Json | undefined {
    switch (typeof value) {
      case "string":
        // Go writes a replacement for each byte that is not UTF-8.
        return value.isWellFormed() ? value : value.toWellFormed();
      case "number":
        if (!Number.isFinite(value)) throw new EncodeError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`, this.#depth + 1);
        return Object.is(value, -0) ? 0 : value;
      case "boolean":
        return value;
      case "object":
        return value instanceof Table ? this.#table(value, value.origin !== undefined && value.origin === original) : this.#unread(value as Json, value === original);
      default:
        throw new EncodeError(`cannot encode ${typeOf(value as LuaValue)} to JSON`, this.#depth + 1);
    }
  }
}
