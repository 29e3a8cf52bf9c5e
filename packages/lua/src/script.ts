/**
 * A compiled script. It is compiled once; each call runs the whole script on fresh globals and then the requested
 * function. Arguments are shared and not modified; results share unchanged parts with them.
 */
import { LuaInternalError, LuaRuntimeError, LuaSyntaxError } from "./errors.ts";
import { DEFAULT_BUDGET } from "./budget.ts";
import type { LuaBudget } from "./budget.ts";
import { toBytes } from "./byte-text.ts";
import { encode } from "./encode.ts";
import type { EmptyRule } from "./encode.ts";
import type { GlobalUse } from "./ast.ts";
import { generate } from "./generate.ts";
import { Globals } from "./library/globals.ts";
import type { LuaModules } from "./library/globals.ts";
import { Machine } from "./machine.ts";
import type { Site } from "./machine.ts";
import { parse } from "./parser.ts";
import { Table } from "./lua-table.ts";
import { LuaThrow, NOTHING, typeOf } from "./values.ts";
import type { LuaFunction, LuaType, LuaValue } from "./values.ts";
import { FlotillaError, systemClock } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";

/** One value that a function returned. */
export class LuaResult {
  readonly type: LuaType;
  readonly #value: LuaValue;
  readonly #machine: Machine;

  constructor(value: LuaValue, machine: Machine) {
    this.type = typeOf(value);
    this.#value = value;
    this.#machine = machine;
  }

  /** The result of `tostring`. */
  get text(): string {
    return this.#machine.text(this.#value);
  }

  /** The bytes that Lua counts as the characters of that text. */
  get bytes(): Buffer {
    return Buffer.from(toBytes(this.text), "latin1");
  }

  /**
   * Plain JSON; undefined for nil. Throws `EncodeError` for a value that JSON cannot represent and `LuaLimitError` for
   * one that is too large. The rule applies to empty tables inside it.
   */
  json(emptyRule?: EmptyRule): Json | undefined {
    // A table that occurs many times in a result is written many times, so writing is charged to the script.
    if (this.#value instanceof Table) return encode(this.#value, (entries) => this.#machine.wrote(entries), emptyRule);
    return typeof this.#value === "function" ? undefined : this.#value;
  }
}

type Lookup = (name: string) => LuaValue;
type Chunk = (machine: Machine, global: Lookup, globals: Table | undefined) => Lookup;

export class CompiledScript {
  readonly name: string;
  /** The global names that the script uses and sets, for checks. */
  readonly globals: readonly GlobalUse[];
  readonly #chunk: Chunk;
  readonly #sites: readonly Site[];
  readonly #isReflective: boolean;

  readonly #clock: Clock;
  readonly #modules: LuaModules;

  constructor(source: string, name: string, clock: Clock, modules: LuaModules) {
    this.#modules = modules;
    this.name = name;
    this.#clock = clock;
    const script = parse(source, name);
    const { code, sites, isReflective } = generate(script, name);
    this.globals = script.globals;
    this.#sites = sites;
    this.#isReflective = isReflective;
    // Of the script, the generated text contains only checked names, numbers and JSON strings.
    // oxlint-disable-next-line typescript/no-implied-eval -- this is what a compiler to JavaScript is for.
    this.#chunk = new Function("T", "N", code)(Table, NOTHING) as Chunk;
  }

  /** Throws `LuaRuntimeError` or `LuaLimitError`; `LuaInternalError` if the engine itself fails. */
  call(
    functionName: string,
    args: readonly (DeepReadonly<Json> | undefined)[],
    budget: LuaBudget = DEFAULT_BUDGET,
  ): LuaResult[] {
    return this.#load(functionName, budget, (machine, found) => {
      if (found === undefined) throw new LuaRuntimeError(`not found function ${functionName}`);
      if (typeof found !== "function") throw new LuaRuntimeError(`${functionName} is not a function: ${typeOf(found)}`);
      machine.d = 0;
      return this.#run(machine, found, args);
    });
  }

  /** The type of the name after the script itself has run, without calling it. Throws as `call` does. */
  typeOf(functionName: string, budget: LuaBudget = DEFAULT_BUDGET): LuaType {
    return this.#load(functionName, budget, (_machine, found) => typeOf(found));
  }

  #load<T>(functionName: string, budget: LuaBudget, use: (machine: Machine, found: LuaValue) => T): T {
    const machine = new Machine(this.name, this.#sites, budget);
    machine.clock = this.#clock;
    try {
      const library = new Globals(machine, this.#modules);
      const lookup = this.#chunk(
        machine,
        (name) => library.get(name),
        this.#isReflective ? library.asTable() : undefined,
      );
      return use(machine, lookup(functionName));
    } catch (error) {
      if (error instanceof LuaThrow) throw new LuaRuntimeError(shortened(machine.text(error.value)));
      // Call depth is counted, so this is only a backstop.
      if (error instanceof RangeError) throw new LuaRuntimeError(`${machine.where(1)} stack overflow`);
      if (error instanceof FlotillaError) throw error;
      throw new LuaInternalError(`running ${functionName}: the engine failed`, { cause: error });
    }
  }

  #run(machine: Machine, callee: LuaFunction, args: readonly (DeepReadonly<Json> | undefined)[]): LuaResult[] {
    const values = args.map((arg): LuaValue =>
      typeof arg === "object" && arg !== null ? Table.over(arg) : ((arg ?? undefined) as LuaValue),
    );
    return machine.all(callee(...values)).map((value) => new LuaResult(value, machine));
  }
}

/** A script may raise a megabyte, which is too much for a log or a condition. */
const MAX_MESSAGE = 4096;

const shortened = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;

export interface CompileOptions {
  /** The prefix of messages. */
  name?: string;
  /** What a script's `os.time` reads. */
  clock?: Clock;
  /** What a script may `require`, beside Lua's own libraries. */
  modules?: LuaModules;
}

/** Throws `LuaSyntaxError`, whose position has line and column. */
export function compileScript(
  source: string,
  { name = "<string>", clock = systemClock, modules = {} }: CompileOptions = {},
): CompiledScript {
  try {
    return new CompiledScript(source, name, clock, modules);
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError)
      throw new LuaSyntaxError(`${name}: the script is too large to compile`);
    throw error;
  }
}
