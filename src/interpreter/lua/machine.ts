/**
 * The state of one call and the operators of the language. Compiled scripts call its methods where the inlined fast path does
 * not hold; short names are for the size of the generated code.
 *
 * Sites: generated code names the place of an operation by a number, the index of a line and of the name by which a function is
 * called there. Error messages need both.
 */
import { systemClock } from "../../base/index.ts";
import type { Clock, Random } from "../../base/index.ts";
import { byteLength, fromBytes, hasLoneBytes, toBytes } from "./byte-text.ts";
import { SLICE_TICKS } from "./budget.ts";
import type { LuaBudget } from "./budget.ts";
import { LuaLimitError } from "./errors.ts";
import type { LuaLimit } from "./errors.ts";
import { PairsIterator, PositionsIterator, CallIterator } from "./iterate.ts";
import type { LuaIterator } from "./iterate.ts";
import { formatNumber, parseNumber } from "./numbers.ts";
import { isPosition, Table } from "./table.ts";
import { LuaThrow, NOTHING, typeOf } from "./values.ts";
import type { LuaFunction, LuaResults, LuaValue } from "./values.ts";

export interface Site {
  line: number;
  /** By what name a function is called there. */
  name: string;
}

/** Tail calls that may lie on the JavaScript stack before they are unwound. */
const MAX_TAIL_CALLS = 100;
const TABLE_BYTES = 384;
const ENTRY_BYTES = 96;
const ITEM_BYTES = 16;
/** Hashing and growing cost far more than a round of an empty loop. */
const KEY_TICKS = 10;
const TABLE_TICKS = 4;
const CONCAT_TICKS = 4;
const RAISE_TICKS = 50;
/** Calls never overlap, so all that are not deeper than usual note their sites in the same place. */
const USUAL_DEPTH = 256;
const sharedSites = new Int32Array(USUAL_DEPTH + MAX_TAIL_CALLS + 4);
export const CLOSURE_BYTES = 96;

/** A call in tail position that the caller of this function shall make. It passes for a list of results until then. */
class TailCall extends Array<LuaValue> {
  readonly callee: LuaFunction;
  readonly args: LuaValue[];
  constructor(callee: LuaFunction, args: LuaValue[]) {
    super();
    this.callee = callee;
    this.args = args;
  }
}

export class Machine {
  readonly name: string;
  readonly sites: readonly Site[];
  readonly budget: LuaBudget;
  /** Ticks left in this slice. */
  t = SLICE_TICKS;
  /** Bytes left. */
  m: number;
  /** Depth of Lua calls. */
  d = 0;
  /** How deep it may get: one more for each tail call that is still on the stack. */
  lim: number;
  /** By depth, the site that each function is at. */
  readonly l: Int32Array;
  #ticksLeft: number;
  #deadline = 0;
  /** Once a string with bytes that are not UTF-8 exists, joining strings must look for completed characters. */
  hasLoneBytes = false;
  /** What strings have under their names; set by the library. */
  library: { stringField(name: string): LuaValue } | undefined;
  /** What time a script is told. */
  clock: Clock = systemClock;
  /** Made when a script asks for chance. */
  random: Random | undefined;

  constructor(name: string, sites: readonly Site[], budget: LuaBudget) {
    this.name = name;
    this.sites = sites;
    this.budget = budget;
    this.m = budget.bytes;
    this.lim = budget.depth;
    this.l = budget.depth <= USUAL_DEPTH ? sharedSites : new Int32Array(budget.depth + MAX_TAIL_CALLS + 4);
    this.#ticksLeft = budget.ticks;
  }

  // Limits.

  /** A slice of ticks is used up. */
  tick(site: number): void {
    this.l[this.d] = site;
    this.#endSlice();
  }

  /** Work of a library function. */
  charge(ticks: number): void {
    this.t -= ticks;
    if (this.t < 0) this.#endSlice();
  }

  #endSlice(): void {
    this.#ticksLeft -= SLICE_TICKS - this.t;
    this.t = SLICE_TICKS;
    const now = performance.now();
    if (this.#deadline === 0) this.#deadline = now + this.budget.deadlineMs;
    if (this.#ticksLeft < 0 || now > this.#deadline) throw this.#limit("time", "context deadline exceeded");
  }

  allocate(bytes: number): void {
    this.m -= bytes;
    if (this.m < 0) throw this.#limit("memory", `more than ${this.budget.bytes} bytes allocated`);
  }

  /** A string that was just made. */
  made(text: string): string {
    if (text.length > this.budget.stringCharacters) throw this.#limit("memory", `a string of more than ${this.budget.stringCharacters} characters`);
    this.allocate(text.length + 24);
    this.charge(text.length >> 6);
    return text;
  }

  /** The string of byte text that a library function made. */
  madeOfBytes(bytes: string): string {
    const text = fromBytes(bytes);
    if (text !== bytes && hasLoneBytes(text)) this.hasLoneBytes = true;
    return this.made(text);
  }

  #limit(limit: LuaLimit, message: string): LuaLimitError {
    return new LuaLimitError(limit, `${this.where(1)} ${message}`);
  }

  // Errors.

  /** The place that a message starts with: of the running function, or of one further out. */
  where(level: number): string {
    const depth = this.d - Math.max(0, level - 2);
    if (depth < 1) return "";
    return `${this.name}:${this.#siteAt(depth).line}:`;
  }

  #siteAt(depth: number): Site {
    const site = this.l[depth] ?? 0;
    return this.sites[site < 0 ? ~site : site] ?? { line: 0, name: "?" };
  }

  /** The name by which the running library function was called. */
  calledName(): string {
    const isDirect = (this.l[this.d] ?? 0) >= 0;
    return isDirect ? this.#siteAt(this.d).name : "(anonymous)";
  }

  /** What a library function throws. */
  failure(message: string): LuaThrow {
    this.charge(RAISE_TICKS);
    return new LuaThrow(this.made(`${this.where(1)} ${message}`));
  }

  #raise(site: number, message: string): never {
    this.l[this.d] = site;
    throw this.failure(message);
  }

  // Calls.

  /** Called instead of what is no function, after the arguments were evaluated. */
  get nc(): LuaFunction {
    return () => {
      throw this.failure("attempt to call a non-function object");
    };
  }

  /** More calls inside each other than allowed. */
  overflow(): never {
    this.d -= 1;
    throw this.failure("stack overflow");
  }

  /** The first of several results. */
  first(results: LuaValue[]): LuaValue {
    const settled = results instanceof TailCall ? this.#settle(results) : results;
    return Array.isArray(settled) ? settled[0] : settled;
  }

  /** All results as a list. */
  all(results: LuaResults): LuaValue[] {
    const settled = results instanceof TailCall ? this.#settle(results) : results;
    return Array.isArray(settled) ? settled : [settled];
  }

  tail(callee: LuaFunction, args: LuaValue[]): LuaResults {
    return new TailCall(callee, args);
  }

  /** Makes the calls that were left to it, one after the other, on an empty stack each. */
  #settle(first: TailCall): LuaResults {
    let results: LuaResults = first;
    while (results instanceof TailCall) results = results.callee(...results.args);
    return results;
  }

  /** For library functions: a call whose function has no name, such as the one of `pcall`. */
  call(callee: LuaFunction, args: LuaValue[]): LuaValue[] {
    if (++this.d > this.lim) this.overflow();
    const caller = this.l[this.d - 1] ?? 0;
    this.l[this.d] = caller < 0 ? caller : ~caller;
    const results = this.all(callee(...args));
    this.d -= 1;
    return results;
  }

  method(receiver: LuaValue, name: string, site: number): LuaValue {
    if (receiver instanceof Table) return receiver.getString(name);
    if (typeof receiver === "string") return this.library?.stringField(name);
    return this.#raise(site, `attempt to index a non-table object(${typeOf(receiver)}) with key '${name}'`);
  }

  // Tables.

  newTable(): Table {
    this.t -= TABLE_TICKS;
    this.allocate(TABLE_BYTES);
    return Table.make();
  }

  /** A table with the given positions; the string keys follow. */
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

  /** Ends a read of `object.key` that found an object or nothing. */
  read(object: LuaValue, key: string, found: unknown): LuaValue {
    return object instanceof Table ? object.field(key, found) : undefined;
  }

  get(object: LuaValue, key: LuaValue, site: number): LuaValue {
    if (object instanceof Table) {
      if (typeof key === "number") {
        const value = object.a[key - 1];
        if (value !== undefined && typeof value !== "object") return value as LuaValue;
      }
      return object.get(key);
    }
    if (typeof object === "string") return typeof key === "string" ? this.library?.stringField(key) : undefined;
    return this.#raise(site, `attempt to index a non-table object(${typeOf(object)}) with key '${this.text(key)}'`);
  }

  set(object: LuaValue, key: LuaValue, value: LuaValue, site: number): void {
    if (!(object instanceof Table)) this.#raise(site, `attempt to index a non-table object(${typeOf(object)}) with key '${this.text(key)}'`);
    if (site > 0) this.l[this.d] = site;
    if (typeof key === "string") {
      if (!object.w && object.m === undefined) this.#chargeCopy(Object.keys(object.h).length, ENTRY_BYTES);
      this.allocate(ENTRY_BYTES);
      this.charge(KEY_TICKS);
      object.setString(key, value);
    } else if (typeof key === "number" && isPosition(key)) {
      this.setPosition(object, key, value);
    } else {
      if (key === undefined) this.#raise(site, "table index is nil");
      if (Number.isNaN(key)) this.#raise(site, "table index is NaN");
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

  length(value: LuaValue, site: number): number {
    if (typeof value === "string") {
      this.charge(value.length >> 6);
      return byteLength(value);
    }
    if (!(value instanceof Table)) return this.#raise(site, "__len undefined");
    const length = value.length();
    if (length < value.a.length) this.charge(value.a.length - length);
    return length;
  }

  /** How a generic `for` goes on. */
  iterate(values: LuaValue[], site: number): LuaIterator {
    const [iterator, state, control] = values;
    if (state instanceof Table && control === undefined && iterator === this.pairsNext) return new PairsIterator(this, state);
    if (state instanceof Table && control === 0 && iterator === this.ipairsNext) return new PositionsIterator(state);
    return new CallIterator(this, typeof iterator === "function" ? iterator : this.nc, state, control, site);
  }

  /** What `pairs` and `ipairs` hand to a `for`. */
  get pairsNext(): LuaFunction {
    return (this.#pairsNext ??= (state, control) => this.#nextPair(state, control));
  }
  get ipairsNext(): LuaFunction {
    return (this.#ipairsNext ??= (state, control) => this.#nextPosition(state, control));
  }
  #pairsNext: LuaFunction | undefined;
  #ipairsNext: LuaFunction | undefined;

  #nextPair(state: LuaValue, control: LuaValue): LuaResults {
    if (!(state instanceof Table)) throw this.failure(`bad argument #1 to ${this.calledName()} (table expected, got ${typeOf(state)})`);
    return this.next(state, control) ?? NOTHING;
  }

  #nextPosition(state: LuaValue, control: LuaValue): LuaResults {
    if (!(state instanceof Table)) throw this.failure(`bad argument #1 to ${this.calledName()} (table expected, got ${typeOf(state)})`);
    if (typeof control !== "number") throw this.failure(`bad argument #2 to ${this.calledName()} (number expected, got ${typeOf(control)})`);
    const value = state.getPosition(Math.trunc(control) + 1);
    return value === undefined ? NOTHING : [Math.trunc(control) + 1, value];
  }

  #lastTable: Table | undefined;
  #lastKeys: LuaValue[] = NOTHING;
  #lastIndex = 0;

  /** The entry after a key; the keys of the table that is being walked are remembered. */
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

  arith(operator: "add" | "sub" | "mul" | "div" | "mod" | "pow", left: LuaValue, right: LuaValue, site: number): number {
    this.#chargeText(left);
    this.#chargeText(right);
    const a = typeof left === "string" ? (parseNumber(left) ?? left) : left;
    const b = typeof right === "string" ? (parseNumber(right) ?? right) : right;
    if (typeof a !== "number" || typeof b !== "number") return this.#raise(site, `cannot perform ${operator} operation between ${typeOf(a)} and ${typeOf(b)}`);
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

  /** Reading through a long string takes its time. */
  #chargeText(value: LuaValue): void {
    if (typeof value === "string" && value.length > 64) this.charge(value.length >> 2);
  }

  /** `==` of two values of which neither is written out. */
  same(a: LuaValue, b: LuaValue): boolean {
    if (typeof a === "string" && a.length > 256) this.charge(a.length >> 5);
    return a === b;
  }

  negate(value: LuaValue, site: number): number {
    if (typeof value === "number") return -value;
    this.#chargeText(value);
    const number = typeof value === "string" ? parseNumber(value) : undefined;
    return number === undefined ? this.#raise(site, "__unm undefined") : -number;
  }

  concat(left: LuaValue, right: LuaValue, site: number): string {
    const a = typeof left === "number" ? formatNumber(left) : left;
    const b = typeof right === "number" ? formatNumber(right) : right;
    if (typeof a !== "string" || typeof b !== "string") return this.#raise(site, `cannot perform concat operation between ${typeOf(left)} and ${typeOf(right)}`);
    this.l[this.d] = site;
    this.t -= CONCAT_TICKS;
    const joined = this.made(a + b);
    return this.hasLoneBytes && hasLoneBytes(joined) ? fromBytes(toBytes(joined)) : joined;
  }

  less(left: LuaValue, right: LuaValue, site: number): boolean {
    if (typeof left === "number" && typeof right === "number") return left < right;
    this.#chargeText(left);
    if (typeof left === "string" && typeof right === "string") return compareText(left, right) < 0;
    return this.#raise(site, `attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  }

  lessEqual(left: LuaValue, right: LuaValue, site: number): boolean {
    if (typeof left === "number" && typeof right === "number") return left <= right;
    this.#chargeText(left);
    if (typeof left === "string" && typeof right === "string") return compareText(left, right) <= 0;
    return this.#raise(site, `attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  }

  /** The bounds of a numeric `for`; the limit is looked at after the others. */
  checkFor(from: LuaValue, to: LuaValue, step: LuaValue, site: number): void {
    if (typeof from !== "number") this.#raise(site, "for statement init must be a number");
    if (typeof step !== "number") this.#raise(site, "for statement step must be a number");
    if (typeof to !== "number") this.#raise(site, "for statement limit must be a number");
  }

  #addresses: Map<object, string> | undefined;

  /** `tostring`. */
  text(value: LuaValue): string {
    if (typeof value === "string") return value;
    if (typeof value === "number") return formatNumber(value);
    if (value === undefined) return "nil";
    if (typeof value === "boolean") return value ? "true" : "false";
    // Not an address, but as unique within the call, and the same in every run.
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

/** JavaScript has no answer where one side is ±1; Go and C say 1. */
export function power(a: number, b: number): number {
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
}

const NEEDS_BYTES = /[\ud800-\uffff]/;

/** By bytes. UTF-16 has the same order but for what lies beyond its surrogates. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!NEEDS_BYTES.test(a) && !NEEDS_BYTES.test(b)) return a < b ? -1 : 1;
  return toBytes(a) < toBytes(b) ? -1 : 1;
}
