/**
 * The state of one call of a script: remaining budget, current position for error messages, and nested function calls.
 * Short names keep the generated code small.
 *
 * Sites: generated code identifies an operation by a number, the index of a line and of the name by which a function is
 * called there. Error messages need both.
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
  /** The name by which the function is called. */
  name: string;
}

/** Tail calls that may be on the JavaScript stack before they are unwound. */
const MAX_TAIL_CALLS = 100;
const RAISE_TICKS = 50;
/** Calls never overlap, so all calls of usual depth share one array of sites. */
const USUAL_DEPTH = 256;
const sharedSites = new Int32Array(USUAL_DEPTH + MAX_TAIL_CALLS + 4);

/** A tail call that the caller of this function must make. Until then it is passed as a list of results. */
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
  /** The current depth limit: one more for each tail call that is still on the stack. */
  lim: number;
  /** By depth, the current site of each function. */
  readonly l: Int32Array;
  #ticksLeft: number;
  #deadline = 0;
  /** Once a string with non-UTF-8 bytes exists, concatenation must check for completed characters. */
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

  /** Charges the work of a library function. */
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

  /** Charges for a newly created string. */
  made(text: string): string {
    if (text.length > this.budget.stringCharacters)
      throw this.#limit("memory", `a string of more than ${this.budget.stringCharacters} characters`);
    this.allocate(text.length + 24);
    this.charge(text.length >> 6);
    return text;
  }

  /** The string for byte text that a library function created. */
  madeOfBytes(bytes: string): string {
    const text = fromBytes(bytes);
    if (text !== bytes && hasLoneBytes(text)) this.hasLoneBytes = true;
    return this.made(text);
  }

  #limit(limit: LuaLimit, message: string): LuaLimitError {
    return new LuaLimitError(limit, `${this.where(1)} ${message}`);
  }

  // Errors.

  /** The location that starts a message: of the running function, or of an outer one. */
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

  /** The error that a library function throws. */
  failure(message: string): LuaThrow {
    this.charge(RAISE_TICKS);
    return new LuaThrow(this.made(`${this.where(1)} ${message}`));
  }

  protected raise(site: number, message: string): never {
    this.l[this.d] = site;
    throw this.failure(message);
  }

  // Calls.

  /** Called in place of a value that is not a function, after the arguments were evaluated. */
  get nc(): LuaFunction {
    return () => {
      throw this.failure("attempt to call a non-function object");
    };
  }

  /** Too many nested calls. */
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

  /** Makes the pending tail calls one after another, each on an empty stack. */
  #settle(first: TailCall): LuaResults {
    let results: LuaResults = first;
    while (results instanceof TailCall) results = results.callee(...results.args);
    return results;
  }

  /** For library functions: calls a function without a name, such as the argument of `pcall`. */
  call(callee: LuaFunction, args: LuaValue[]): LuaValue[] {
    if (++this.d > this.lim) this.overflow();
    const caller = this.l[this.d - 1] ?? 0;
    this.l[this.d] = caller < 0 ? caller : ~caller;
    const results = this.all(callee(...args));
    this.d -= 1;
    return results;
  }
}
