/**
 * The state of one call of a script: what it may still use, where it is, how its errors say so, and how functions call
 * each other. Short names are for the size of the generated code.
 *
 * Sites: generated code names the place of an operation by a number, the index of a line and of the name by which a
 * function is called there. Error messages need both.
 */
import { fromBytes, hasLoneBytes } from "./byte-text.ts";
import { SLICE_TICKS } from "./budget.ts";
import type { LuaBudget } from "./budget.ts";
import { LuaLimitError } from "./errors.ts";
import type { LuaLimit } from "./errors.ts";
import { LuaThrow } from "./values.ts";
import type { LuaFunction, LuaResults, LuaValue } from "./values.ts";

export interface Site {
  line: number;
  /** By what name a function is called there. */
  name: string;
}

/** Tail calls that may lie on the JavaScript stack before they are unwound. */
const MAX_TAIL_CALLS = 100;
const RAISE_TICKS = 50;
/** Calls never overlap, so all that are not deeper than usual note their sites in the same place. */
const USUAL_DEPTH = 256;
const sharedSites = new Int32Array(USUAL_DEPTH + MAX_TAIL_CALLS + 4);

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

export class CallState {
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
    if (text.length > this.budget.stringCharacters)
      throw this.#limit("memory", `a string of more than ${this.budget.stringCharacters} characters`);
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

  protected raise(site: number, message: string): never {
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
}
