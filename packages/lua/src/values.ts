/**
 * Representation of Lua values in JavaScript: nil is `undefined`; booleans, numbers and strings are themselves; a
 * function is a JavaScript function that takes Lua values; a table is a `Table`. No other object ever reaches a script.
 */
import type { Table } from "./lua-table.ts";

export type LuaValue = undefined | boolean | number | string | LuaFunction | Table;

/** A single value directly; none or several as an array, which is not itself a Lua value. */
export type LuaResults = LuaValue | LuaValue[];

export type LuaFunction = (...args: LuaValue[]) => LuaResults;

export type LuaType = "nil" | "boolean" | "number" | "string" | "function" | "table";

export function typeOf(value: LuaValue): LuaType {
  switch (typeof value) {
    case "undefined":
      return "nil";
    case "object":
      return "table";
    case "boolean":
    case "number":
    case "string":
    case "function":
      return typeof value as LuaType;
    default:
      return "nil";
  }
}

export const isTrue = (value: LuaValue): boolean => value !== undefined && value !== false;

/**
 * A value that a script threw. Not an `Error`, because capturing a stack for each would let scripts attack with errors.
 */
export class LuaThrow {
  readonly value: LuaValue;
  constructor(value: LuaValue) {
    this.value = value;
  }
}

/** No values at all, which for a library function differs from nil. */
export const NOTHING: LuaValue[] = [];
