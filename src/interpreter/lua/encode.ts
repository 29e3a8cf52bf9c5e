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

/** What an empty table inside the result is to be; undefined drops it. The path has no positions. */
export type EmptyRule = (path: readonly string[]) => Json | undefined;

const MAX_DEPTH = 500;
const asList: EmptyRule = () => [];
const free = (): void => undefined;

/** Throws `EncodeError`, and what `charge` throws, which is told of each table. An empty root is an empty list. */
export function encode(table: Table, emptyRule: EmptyRule = asList, charge: (tables: number) => void = free): Json {
  return new Encoder(emptyRule, charge).root(table);
}

class Encoder {
  readonly #emptyRule: EmptyRule;
  readonly #charge: (tables: number) => void;
  readonly #open = new Set<Table>();
  readonly #path: string[] = [];
  #depth = 0;

  constructor(emptyRule: EmptyRule, charge: (tables: number) => void) {
    this.#emptyRule = emptyRule;
    this.#charge = charge;
  }

  root(table: Table): Json {
    return this.#table(table) ?? [];
  }

  /** Undefined for an empty table that the rule drops. */
  #table(table: Table): Json | undefined {
    this.#depth += 1;
    this.#charge(1);
    if (this.#open.has(table)) throw new EncodeError("cannot encode recursively nested tables to JSON", this.#depth);
    if (this.#depth > MAX_DEPTH) throw new EncodeError(`cannot encode more than ${MAX_DEPTH} nested tables to JSON`, 1);
    this.#open.add(table);
    const json = this.#isUntouched(table) ? (table.origin as Json) : this.#content(table);
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

  #content(table: Table): Json | undefined {
    const length = table.length();
    const isList = length > 0;
    const entries = this.#entries(table);
    if (isList) {
      for (let position = 1; position <= length; position++) if (table.a[position - 1] === undefined) throw new EncodeError("cannot encode sparse array", this.#depth);
      if (entries.length > 0) throw new EncodeError(typeof entries[0]?.[0] === "number" ? "cannot encode sparse array" : "cannot encode mixed or invalid key types", this.#depth);
      return this.#list(table, length);
    }
    const [first] = entries;
    if (first === undefined) return this.#depth === 1 ? undefined : this.#emptyRule(this.#path);
    if (typeof first[0] === "number") throw new EncodeError("cannot encode sparse array", this.#depth);
    return this.#object(entries);
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

  #object(entries: readonly [LuaValue, unknown][]): JsonObject {
    const object: JsonObject = {};
    for (const [key, value] of entries) {
      if (typeof key !== "string") throw new EncodeError("cannot encode mixed or invalid key types", this.#depth);
      this.#path.push(key);
      const json = this.#value(value);
      this.#path.pop();
      if (json === undefined) continue;
      if (key === "__proto__") Object.defineProperty(object, key, { value: json, enumerable: true, configurable: true, writable: true });
      else object[key] = json;
    }
    return object;
  }

  #list(table: Table, length: number): Json[] {
    const list: Json[] = [];
    for (let position = 1; position <= length; position++) {
      const raw = table.a[position - 1];
      const json = this.#value(typeof raw === "object" ? (table.kids?.get(position) ?? raw) : raw);
      if (json !== undefined) list.push(json);
    }
    return list;
  }

  #value(value: unknown): Json | undefined {
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
        return value instanceof Table ? this.#table(value) : (value as Json);
      default:
        throw new EncodeError(`cannot encode ${typeOf(value as LuaValue)} to JSON`, this.#depth + 1);
    }
  }
}
