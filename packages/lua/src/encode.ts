/**
 * Encodes a table as JSON. Nodes that the script did not change are returned as the identical input objects, so that a
 * result shares unchanged parts with its input.
 */
import { setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { Table } from "./lua-table.ts";
import { typeOf } from "./values.ts";
import type { LuaValue } from "./values.ts";

/** A table cannot be encoded as JSON. The message is that of Karmada's encoder, which includes the depth. */
export class EncodeError extends Error {
  constructor(problem: string, depth: number) {
    super(
      `encode lua result to json failed: ${"json: error calling MarshalJSON for type json.jsonValue: ".repeat(depth)}${problem}`,
    );
  }
}

/** How empty tables in a result are encoded. */
export interface EmptyRule {
  /** By path, without list indexes; undefined drops the table. */
  at(path: readonly string[]): Json | undefined;
  /** Whether unchanged values in this root, at their original path, are kept unchanged. */
  isReference(root: object): boolean;
  /** Handles empty values in JSON that was moved to another path. */
  moved(json: Json, path: string[]): Json | undefined;
}

/** Called for each table that is written, with the number of its entries. It may throw to abort. */
export type Charge = (entries: number) => void;

const MAX_DEPTH = 500;

/**
 * Throws `EncodeError`, and any error from `charge`. An empty root is an empty list, and without a rule so is every
 * empty table.
 */
export function encode(table: Table, charge: Charge, emptyRule?: EmptyRule): Json {
  return new Encoder(charge, emptyRule).root(table);
}

class Encoder {
  readonly #emptyRule: EmptyRule | undefined;
  readonly #charge: Charge;
  /** Path of the current value; kept only if a rule needs it. */
  readonly #path: string[] = [];
  #depth = 0;

  constructor(charge: Charge, emptyRule: EmptyRule | undefined) {
    this.#charge = charge;
    this.#emptyRule = emptyRule;
  }

  root(table: Table): Json {
    const isInPlace =
      this.#emptyRule === undefined || (table.origin !== undefined && this.#emptyRule.isReference(table.origin));
    return this.#table(table, isInPlace) ?? [];
  }

  /** Undefined for an empty table that the rule drops. */
  #table(table: Table, isInPlace: boolean): Json | undefined {
    if (table.writer === this)
      throw new EncodeError("cannot encode recursively nested tables to JSON", this.#depth + 1);
    if (isUntouched(table)) return this.#unread(table.origin as Json, isInPlace);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new EncodeError(`cannot encode more than ${MAX_DEPTH} nested tables to JSON`, 1);
    // An error leaves this set, which is harmless: each writer is used once.
    table.writer = this;
    const json =
      table.m === undefined && table.a.length === 0 ? this.#fields(table, isInPlace) : this.#mixed(table, isInPlace);
    table.writer = undefined;
    this.#depth -= 1;
    return json;
  }

  /** JSON that the script did not change. */
  #unread(json: Json, isInPlace: boolean): Json | undefined {
    return isInPlace || this.#emptyRule === undefined ? json : this.#emptyRule.moved(json, this.#path);
  }

  #empty(): Json | undefined {
    if (this.#depth === 1) return undefined;
    return this.#emptyRule ? this.#emptyRule.at(this.#path) : [];
  }

  /** A table with names only, the most common case: a copy in which only changed values are replaced. */
  #fields(table: Table, isInPlace: boolean): Json | undefined {
    const origin = isInPlace && !Array.isArray(table.origin) ? (table.origin as JsonObject | undefined) : undefined;
    const object = { ...table.h };
    const keys = Object.keys(object);
    this.#charge(keys.length);
    let entries = 0;
    let isWhole = true;
    for (const key of keys) {
      const value = object[key];
      if (value === undefined || value === null) {
        object[key] = undefined;
        isWhole = false;
        continue;
      }
      entries += 1;
      const json =
        typeof value === "object" ? this.#named(key, table.kids?.get(key) ?? value, origin) : this.#scalar(value);
      if (json !== value) object[key] = json;
      if (json === undefined || !key.isWellFormed()) isWhole = false;
    }
    if (entries === 0) return this.#empty();
    return (isWhole ? object : withoutGaps(object, keys)) as JsonObject;
  }

  /** A table with list positions or with keys of other types. */
  #mixed(table: Table, isInPlace: boolean): Json | undefined {
    const length = table.length();
    const entries = entriesOf(table);
    this.#charge(length + entries.length);
    if (length > 0) {
      for (let position = 1; position <= length; position++)
        if (table.a[position - 1] === undefined) throw new EncodeError("cannot encode sparse array", this.#depth);
      if (entries.length > 0)
        throw new EncodeError(
          typeof entries[0]?.[0] === "number"
            ? "cannot encode sparse array"
            : "cannot encode mixed or invalid key types",
          this.#depth,
        );
      return this.#list(table, length, isInPlace && Array.isArray(table.origin) ? table.origin : undefined);
    }
    const [first] = entries;
    if (first === undefined) return this.#empty();
    if (typeof first[0] === "number") throw new EncodeError("cannot encode sparse array", this.#depth);
    // Errors in the table itself are reported before errors inside it.
    if (!hasNamesOnly(entries)) throw new EncodeError("cannot encode mixed or invalid key types", this.#depth);
    const origin = isInPlace && !Array.isArray(table.origin) ? (table.origin as JsonObject | undefined) : undefined;
    const object: Record<string, unknown> = {};
    for (const [key, value] of entries)
      setOwn(
        object,
        key,
        typeof value === "object" && value !== null ? this.#named(key, value, origin) : this.#scalar(value),
      );
    return withoutGaps(object, Object.keys(object)) as JsonObject;
  }

  #list(table: Table, length: number, origin: Json[] | undefined): Json[] {
    const list: Json[] = [];
    for (let position = 1; position <= length; position++) {
      const raw = table.a[position - 1];
      const json =
        typeof raw === "object" && raw !== null
          ? this.#container(table.kids?.get(position) ?? raw, origin?.[position - 1])
          : this.#scalar(raw);
      if (json !== undefined) list.push(json);
    }
    return list;
  }

  /** `origin` is set when the object is at its original path; its value at the key is then in place as well. */
  #named(key: string, value: object, origin: JsonObject | undefined): Json | undefined {
    if (this.#emptyRule === undefined) return this.#container(value, undefined);
    this.#path.push(key);
    const json = this.#container(value, origin?.[key]);
    this.#path.pop();
    return json;
  }

  #container(value: object, original: Json | undefined): Json | undefined {
    return value instanceof Table
      ? this.#table(value, value.origin !== undefined && value.origin === original)
      : this.#unread(value as Json, value === original);
  }

  #scalar(value: unknown): Json {
    switch (typeof value) {
      case "string":
        // Go writes a replacement character for each byte that is not UTF-8.
        return value.isWellFormed() ? value : value.toWellFormed();
      case "number":
        if (!Number.isFinite(value))
          throw new EncodeError(
            `json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`,
            this.#depth + 1,
          );
        return Object.is(value, -0) ? 0 : value;
      case "boolean":
        return value;
      default:
        throw new EncodeError(`cannot encode ${typeOf(value as LuaValue)} to JSON`, this.#depth + 1);
    }
  }
}

function isUntouched(table: Table): boolean {
  if (table.origin === undefined || table.w || table.owned || table.m !== undefined) return false;
  if (Array.isArray(table.origin) && table.a !== table.origin) return false;
  if (table.kids !== undefined) for (const kid of table.kids.values()) if (!isUntouched(kid)) return false;
  return true;
}

/** Keys other than list positions, with their values: unread JSON or Lua values. */
function entriesOf(table: Table): [LuaValue, unknown][] {
  const entries: [LuaValue, unknown][] = [];
  if (table.m !== undefined) {
    for (const [key, value] of table.m) if (value !== undefined) entries.push([key, value]);
    return entries;
  }
  for (const key of Object.keys(table.h)) {
    const value = table.h[key];
    if (value !== undefined && value !== null)
      entries.push([key, typeof value === "object" ? (table.kids?.get(key) ?? value) : value]);
  }
  return entries;
}

function hasNamesOnly(entries: readonly [LuaValue, unknown][]): entries is readonly [string, unknown][] {
  for (const [key] of entries) if (typeof key !== "string") return false;
  return true;
}

/** Without keys that have no value, and with well-formed names. */
function withoutGaps(object: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const key of keys) if (object[key] !== undefined) setOwn(whole, key.toWellFormed(), object[key]);
  return whole;
}
