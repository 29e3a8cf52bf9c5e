/**
 * The operators of the language, on the state of one call. Compiled scripts call its methods where the inlined fast
 * path does not apply.
 */
import { systemClock } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import { byteLength, fromBytes, hasLoneBytes, toBytes } from "./byte-text.ts";
import { CallState } from "./call-state.ts";
import { PairsIterator, PositionsIterator, CallIterator } from "./iterate.ts";
import type { LuaIterator } from "./iterate.ts";
import { power } from "./go-math.ts";
import { formatNumber, parseNumber } from "./numbers.ts";
import { isPosition, Table } from "./lua-table.ts";
import { NOTHING, typeOf } from "./values.ts";
import type { LuaFunction, LuaResults, LuaValue } from "./values.ts";

export type { Site } from "./call-state.ts";

const TABLE_BYTES = 384;
const ENTRY_BYTES = 96;
const ITEM_BYTES = 16;
const JSON_BYTES = 128;
/** Hashing and growing cost far more than a round of an empty loop. */
const KEY_TICKS = 10;
const TABLE_TICKS = 4;
const CONCAT_TICKS = 4;

export class Machine extends CallState {
  /** Looks up string methods; set by the library. */
  library: { stringField(name: string): LuaValue } | undefined;
  /** The clock that scripts read. */
  clock: Clock = systemClock;
  /** Created on first use of random numbers. */
  random: Random | undefined;

  // Tables.

  newTable(): Table {
    this.t -= TABLE_TICKS;
    this.allocate(TABLE_BYTES);
    return Table.make();
  }

  /** A table with the given positions; string keys are added later. */
  list(values: LuaValue[]): Table {
    this.allocate(TABLE_BYTES + values.length * ITEM_BYTES);
    this.t -= TABLE_TICKS + (values.length >> 3);
    return Table.ofList(values);
  }

  /** A table with string keys that are ordinary names, none of them nil. */
  fields(fields: Record<string, LuaValue>, count: number): Table {
    this.t -= TABLE_TICKS;
    this.allocate(TABLE_BYTES + count * ITEM_BYTES);
    return Table.ofFields(fields);
  }

  /** Adds a field of a table constructor. */
  field(table: Table, key: LuaValue, value: LuaValue, site: number): Table {
    this.set(table, key, value, site);
    return table;
  }

  /** Several values at the end of a table constructor. */
  append(table: Table, position: number, values: readonly LuaValue[]): void {
    this.charge(values.length >> 3);
    values.forEach((value, index) => this.setPosition(table, position + index, value));
  }

  /** Finishes a read of `object.key` that found an object or nothing. */
  read(object: LuaValue, key: string, found: unknown): LuaValue {
    return object instanceof Table ? object.field(key, found) : undefined;
  }

  get(object: LuaValue, key: LuaValue, site: number): LuaValue {
    if (object instanceof Table) {
      if (typeof key === "number") {
        const value = object.a[key - 1];
        if (value !== undefined) return typeof value === "object" ? object.child(key, value) : (value as LuaValue);
      } else if (typeof key === "string") {
        this.#chargeKey(key);
      }
      return object.get(key);
    }
    if (typeof object === "string") return typeof key === "string" ? this.library?.stringField(key) : undefined;
    return this.raise(site, `attempt to index a non-table object(${typeOf(object)}) with key '${this.text(key)}'`);
  }

  method(receiver: LuaValue, name: string, site: number): LuaValue {
    if (receiver instanceof Table) return receiver.getString(name);
    if (typeof receiver === "string") return this.library?.stringField(name);
    return this.raise(site, `attempt to index a non-table object(${typeOf(receiver)}) with key '${name}'`);
  }

  set(object: LuaValue, key: LuaValue, value: LuaValue, site: number): void {
    if (!(object instanceof Table))
      this.raise(site, `attempt to index a non-table object(${typeOf(object)}) with key '${this.text(key)}'`);
    if (site > 0) this.l[this.d] = site;
    if (typeof key === "string") {
      this.#chargeKey(key);
      if (!object.w && object.m === undefined) this.#chargeCopy(Object.keys(object.h).length, ENTRY_BYTES);
      this.allocate(ENTRY_BYTES);
      this.charge(KEY_TICKS);
      object.setString(key, value);
    } else if (typeof key === "number" && isPosition(key)) {
      this.setPosition(object, key, value);
    } else {
      if (key === undefined) this.raise(site, "table index is nil");
      if (Number.isNaN(key)) this.raise(site, "table index is NaN");
      if (object.m === undefined) this.#chargeCopy(Object.keys(object.h).length, ENTRY_BYTES);
      this.allocate(ENTRY_BYTES * 2);
      this.charge(KEY_TICKS);
      object.setOther(key, value);
    }
  }

  setPosition(table: Table, position: number, value: LuaValue): void {
    if (!table.owned) this.#chargeCopy(table.a.length, ITEM_BYTES);
    const gap = position - table.a.length;
    if (gap > 1) this.#chargeCopy(gap, ITEM_BYTES);
    else if (gap === 1) this.allocate(ITEM_BYTES);
    table.setPosition(position, value);
  }

  #chargeCopy(count: number, bytes: number): void {
    this.allocate(count * bytes);
    this.charge(count >> 2);
  }

  /** Charges for a table that was encoded as JSON. */
  wrote(entries: number): void {
    this.charge(TABLE_TICKS + entries);
    this.allocate(JSON_BYTES + entries * ITEM_BYTES);
  }

  length(value: LuaValue, site: number): number {
    if (typeof value === "string") {
      this.charge(value.length >> 6);
      return byteLength(value);
    }
    if (!(value instanceof Table)) return this.raise(site, "__len undefined");
    const length = value.length();
    if (length < value.a.length) this.charge(value.a.length - length);
    return length;
  }

  /** The iterator of a generic `for`. */
  iterate(values: LuaValue[], site: number): LuaIterator {
    const [iterator, state, control] = values;
    if (state instanceof Table && control === undefined && iterator === this.pairsNext)
      return new PairsIterator(this, state);
    if (state instanceof Table && control === 0 && iterator === this.ipairsNext) return new PositionsIterator(state);
    return new CallIterator(this, typeof iterator === "function" ? iterator : this.nc, state, control, site);
  }

  /** The functions that `pairs` and `ipairs` return to a `for`. */
  get pairsNext(): LuaFunction {
    return (this.#pairsNext ??= (state, control) => this.#nextPair(state, control));
  }
  get ipairsNext(): LuaFunction {
    return (this.#ipairsNext ??= (state, control) => this.#nextPosition(state, control));
  }
  #pairsNext: LuaFunction | undefined;
  #ipairsNext: LuaFunction | undefined;

  #nextPair(state: LuaValue, control: LuaValue): LuaResults {
    if (!(state instanceof Table))
      throw this.failure(`bad argument #1 to ${this.calledName()} (table expected, got ${typeOf(state)})`);
    return this.next(state, control) ?? NOTHING;
  }

  #nextPosition(state: LuaValue, control: LuaValue): LuaResults {
    if (!(state instanceof Table))
      throw this.failure(`bad argument #1 to ${this.calledName()} (table expected, got ${typeOf(state)})`);
    if (typeof control !== "number")
      throw this.failure(`bad argument #2 to ${this.calledName()} (number expected, got ${typeOf(control)})`);
    const value = state.getPosition(Math.trunc(control) + 1);
    return value === undefined ? NOTHING : [Math.trunc(control) + 1, value];
  }

  #lastTable: Table | undefined;
  #lastKeys: LuaValue[] = NOTHING;
  #lastIndex = 0;

  /** The entry after a key; the keys of the table that is being iterated are cached. */
  next(table: Table, key: LuaValue): [LuaValue, LuaValue] | undefined {
    let index = 0;
    if (key === undefined || (typeof key === "number" && key > 0 && isPosition(key))) {
      for (let at = key ?? 0; at < table.a.length; at++) {
        this.t -= 1;
        const value = table.getPosition(at + 1);
        if (value !== undefined) return [at + 1, value];
      }
      this.#lastTable = undefined;
    } else {
      index = this.#indexOf(table, key) + 1;
    }
    if (this.#lastTable !== table || index >= this.#lastKeys.length) this.#remember(table);
    for (; index < this.#lastKeys.length; index++) {
      this.t -= 1;
      const found = this.#lastKeys[index];
      const value = table.get(found);
      if (value === undefined) continue;
      this.#lastIndex = index;
      return [found, value];
    }
    return undefined;
  }

  #remember(table: Table): void {
    this.#lastTable = table;
    this.#lastKeys = table.keys();
    this.charge(this.#lastKeys.length);
    this.allocate(this.#lastKeys.length * 8);
  }

  #indexOf(table: Table, key: LuaValue): number {
    if (this.#lastTable === table && this.#lastKeys[this.#lastIndex] === key) return this.#lastIndex;
    this.#remember(table);
    return Math.max(0, this.#lastKeys.indexOf(key));
  }

  // Operators.

  arith(
    operator: "add" | "sub" | "mul" | "div" | "mod" | "pow",
    left: LuaValue,
    right: LuaValue,
    site: number,
  ): number {
    this.#chargeText(left);
    this.#chargeText(right);
    const a = typeof left === "string" ? (parseNumber(left) ?? left) : left;
    const b = typeof right === "string" ? (parseNumber(right) ?? right) : right;
    if (typeof a !== "number" || typeof b !== "number")
      return this.raise(site, `cannot perform ${operator} operation between ${typeOf(a)} and ${typeOf(b)}`);
    switch (operator) {
      case "add":
        return a + b;
      case "sub":
        return a - b;
      case "mul":
        return a * b;
      case "div":
        return a / b;
      case "mod":
        return this.mod(a, b);
      default:
        return power(a, b);
    }
  }

  mod(a: number, b: number): number {
    const rest = a % b;
    return (b > 0 && rest < 0) || (b < 0 && rest > 0) ? rest + b : rest;
  }

  power(a: number, b: number): number {
    return power(a, b);
  }

  /** Inserting a key into a table costs as well, once. */
  #chargeKey(key: string): void {
    if (key.length > 256) this.charge(key.length >> 2);
  }

  /** Reading a long string is charged. */
  #chargeText(value: LuaValue): void {
    if (typeof value === "string" && value.length > 64) this.charge(value.length >> 2);
  }

  /** `==` of two values, neither of which is a literal. */
  same(a: LuaValue, b: LuaValue): boolean {
    if (typeof a === "string" && a.length > 256) this.charge(a.length >> 5);
    return a === b;
  }

  negate(value: LuaValue, site: number): number {
    if (typeof value === "number") return -value;
    this.#chargeText(value);
    const number = typeof value === "string" ? parseNumber(value) : undefined;
    return number === undefined ? this.raise(site, "__unm undefined") : -number;
  }

  concat(left: LuaValue, right: LuaValue, site: number): string {
    const a = typeof left === "number" ? formatNumber(left) : left;
    const b = typeof right === "number" ? formatNumber(right) : right;
    if (typeof a !== "string" || typeof b !== "string")
      return this.raise(site, `cannot perform concat operation between ${typeOf(left)} and ${typeOf(right)}`);
    this.l[this.d] = site;
    this.t -= CONCAT_TICKS;
    const joined = this.made(a + b);
    return this.hasLoneBytes && hasLoneBytes(joined) ? fromBytes(toBytes(joined)) : joined;
  }

  less(left: LuaValue, right: LuaValue, site: number): boolean {
    if (typeof left === "number" && typeof right === "number") return left < right;
    this.#chargeText(left);
    if (typeof left === "string" && typeof right === "string") return compareText(left, right) < 0;
    return this.raise(site, `attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  }

  lessEqual(left: LuaValue, right: LuaValue, site: number): boolean {
    if (typeof left === "number" && typeof right === "number") return left <= right;
    this.#chargeText(left);
    if (typeof left === "string" && typeof right === "string") return compareText(left, right) <= 0;
    return this.raise(site, `attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  }

  /** The bounds of a numeric `for`; the limit is checked last. */
  checkFor(from: LuaValue, to: LuaValue, step: LuaValue, site: number): void {
    if (typeof from !== "number") this.raise(site, "for statement init must be a number");
    if (typeof step !== "number") this.raise(site, "for statement step must be a number");
    if (typeof to !== "number") this.raise(site, "for statement limit must be a number");
  }

  #addresses: Map<object, string> | undefined;

  /** `tostring`. */
  text(value: LuaValue): string {
    if (typeof value === "string") return value;
    if (typeof value === "number") return formatNumber(value);
    if (value === undefined) return "nil";
    if (typeof value === "boolean") return value ? "true" : "false";
    // Not an address, but unique within the call, and the same in every run.
    const addresses = (this.#addresses ??= new Map());
    let address = addresses.get(value);
    if (address === undefined) {
      this.allocate(64);
      address = `${typeOf(value)}: 0xc${(addresses.size + 1).toString(16).padStart(9, "0")}`;
      addresses.set(value, address);
    }
    return address;
  }
}

const NEEDS_BYTES = /[\ud800-\uffff]/;

/** Compares by bytes. UTF-16 has the same order except for characters beyond its surrogates. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!NEEDS_BYTES.test(a) && !NEEDS_BYTES.test(b)) return a < b ? -1 : 1;
  return toBytes(a) < toBytes(b) ? -1 : 1;
}
