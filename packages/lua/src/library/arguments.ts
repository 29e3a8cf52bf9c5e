/** Reads arguments of library functions, with gopher-lua's conversions and messages. */
import { toBytes } from "../byte-text.ts";
import type { Machine } from "../machine.ts";
import { formatNumber, parseNumber, toInt64 } from "../numbers.ts";
import { Table } from "../lua-table.ts";
import { typeOf } from "../values.ts";
import type { LuaFunction, LuaThrow, LuaType, LuaValue } from "../values.ts";

/** Karmada's limit for strings passed to the string library, in bytes. */
const MAX_STRING_BYTES = 1_000_000;

export class Arguments {
  readonly machine: Machine;
  readonly values: readonly LuaValue[];

  constructor(machine: Machine, values: readonly LuaValue[]) {
    this.machine = machine;
    this.values = values;
  }

  get count(): number {
    return this.values.length;
  }

  /** The n-th argument, starting at 1. */
  get(n: number): LuaValue {
    return this.values[n - 1];
  }

  any(n: number): LuaValue {
    if (n > this.values.length) throw this.bad(n, "value expected");
    return this.values[n - 1];
  }

  table(n: number): Table {
    const value = this.get(n);
    if (value instanceof Table) return value;
    throw this.wrongType(n, "table");
  }

  function(n: number): LuaFunction {
    const value = this.get(n);
    if (typeof value === "function") return value;
    throw this.wrongType(n, "function");
  }

  number(n: number): number {
    const value = this.get(n);
    if (typeof value === "number") return value;
    if (typeof value === "string") this.machine.charge(value.length >> 2);
    const parsed = typeof value === "string" ? parseNumber(value) : undefined;
    if (parsed === undefined) throw this.wrongType(n, "number");
    return parsed;
  }

  /** An integer; strings are not converted. */
  integer(n: number, otherwise?: number): number {
    const value = this.get(n);
    if (value === undefined && otherwise !== undefined) return otherwise;
    if (typeof value !== "number") throw this.wrongType(n, "number");
    return toInt64(value);
  }

  string(n: number): string {
    const value = this.get(n);
    if (typeof value === "string") return value;
    if (typeof value === "number") return formatNumber(value);
    throw this.wrongType(n, "string");
  }

  optionalString(n: number, otherwise: string): string {
    const value = this.get(n);
    if (value === undefined) return otherwise;
    if (typeof value !== "string") throw this.wrongType(n, "string");
    return value;
  }

  /** A string as byte text, within Karmada's limit. */
  bytes(n: number): string {
    const bytes = toBytes(this.string(n));
    this.machine.charge(bytes.length >> 5);
    if (bytes.length > MAX_STRING_BYTES)
      throw this.machine.failure(
        `string length ${bytes.length} exceeds the maximum allowed input string length ${MAX_STRING_BYTES} in ` +
          "Karmada lua string lib, please check your lua script.",
      );
    return bytes;
  }

  bad(n: number, problem: string): LuaThrow {
    return this.machine.failure(`bad argument #${n} to ${this.machine.calledName()} (${problem})`);
  }

  wrongType(n: number, expected: LuaType): LuaThrow {
    return this.bad(n, `${expected} expected, got ${typeOf(this.get(n))}`);
  }
}

export type LibraryFunction = (args: Arguments) => LuaValue | LuaValue[];

/** Cost of a library call, relative to a round of an empty loop. */
const CALL_TICKS = 10;

export function bind(machine: Machine, run: LibraryFunction): LuaFunction {
  return (...values) => {
    machine.t -= CALL_TICKS;
    if (machine.t < 0) machine.charge(0);
    return run(new Arguments(machine, values));
  };
}
