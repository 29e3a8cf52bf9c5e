/** The table library. */
import { formatNumber } from "../numbers.ts";
import type { Table } from "../lua-table.ts";
import { isTrue, typeOf } from "../values.ts";
import type { LuaValue } from "../values.ts";
import type { Arguments, LibraryFunction } from "./arguments.ts";

const SMALLEST = -(2 ** 63);

function concat(args: Arguments): LuaValue {
  const { machine } = args;
  const table = args.table(1);
  const separator = args.optionalString(2, "");
  const length = table.length();
  const from = args.integer(3, 1);
  const to = Math.min(args.integer(4, length), length);
  if (args.count === 3 && (from > length || from < 1)) return "";
  const parts: string[] = [];
  let characters = 0;
  for (let position = Math.max(Math.min(from, length), 1); position <= to; position++) {
    const value = table.getPosition(position);
    if (typeof value !== "string" && typeof value !== "number")
      throw machine.failure(`invalid value (${typeOf(value)}) at index ${position} in table for concat`);
    const part = typeof value === "number" ? formatNumber(value) : value;
    characters += part.length + separator.length;
    if (characters > machine.budget.stringCharacters) machine.made("".padEnd(machine.budget.stringCharacters + 1));
    parts.push(part);
    machine.charge(4);
  }
  // A single value is not concatenated, so a number stays a number.
  if (parts.length === 1) return table.getPosition(to);
  return parts.length === 0 ? "" : machine.made(parts.join(separator));
}

function insert(args: Arguments): LuaValue[] {
  const { machine } = args;
  const table = args.table(1);
  if (args.count === 1) throw machine.failure("wrong number of arguments");
  if (args.count === 2) {
    const value = args.get(2);
    if (value !== undefined) machine.setPosition(table, table.length() + 1, value);
    return [];
  }
  const position = args.integer(2);
  const value = args.any(3);
  if (position <= 0 || position > table.a.length) {
    machine.set(table, position, value, 0);
    return [];
  }
  machine.charge((table.a.length - position) >> 4);
  machine.setPosition(table, table.a.length + 1, undefined);
  table.a.pop();
  table.a.splice(position - 1, 0, value);
  return [];
}

function remove(args: Arguments): LuaValue {
  const { machine } = args;
  const table = args.table(1);
  const position = args.count === 1 ? -1 : args.integer(2);
  const last = table.a.length;
  // Go converts a non-integral number to the smallest integer, which is beyond all others once it is counted from 0.
  if (last === 0 || position > last || position === SMALLEST) return undefined;
  const at = position < 1 || position === last ? last : position;
  const value = table.getPosition(at);
  machine.charge((last - at) >> 4);
  machine.setPosition(table, at, value);
  table.a.splice(at - 1, 1);
  return value;
}

/** The table's own list with every container already wrapped as a table, so that elements can be moved. */
function wrapped(table: Table): LuaValue[] {
  table.ownItems();
  for (let position = 1; position <= table.a.length; position++)
    if (typeof table.a[position - 1] === "object") table.a[position - 1] = table.getPosition(position);
  return table.a as LuaValue[];
}

/** Small lists use insertion sort, as in Go; larger ones use merge sort. */
const INSERTION_SIZE = 12;

function sort(args: Arguments): LuaValue[] {
  const { machine } = args;
  const table = args.table(1);
  const compare = args.count === 1 ? undefined : args.function(2);
  machine.charge(table.a.length);
  machine.setPosition(
    table,
    Math.max(table.a.length, 1),
    table.a.length === 0 ? undefined : table.getPosition(table.a.length),
  );
  const values = wrapped(table);
  const site = machine.l[machine.d] ?? 0;
  const less = (a: LuaValue, b: LuaValue): boolean => {
    machine.charge(compare ? 10 : 2);
    return compare ? isTrue(machine.call(compare, [a, b])[0]) : machine.less(a, b, site);
  };
  if (values.length <= INSERTION_SIZE) {
    for (let from = 1; from < values.length; from++) {
      for (let at = from; at > 0 && less(values[at], values[at - 1]); at--)
        [values[at], values[at - 1]] = [values[at - 1], values[at]];
    }
    return [];
  }
  const sorted = mergeSort(values.slice(), less);
  for (let index = 0; index < sorted.length; index++) values[index] = sorted[index];
  return [];
}

function mergeSort(values: LuaValue[], less: (a: LuaValue, b: LuaValue) => boolean): LuaValue[] {
  if (values.length < 2) return values;
  const middle = values.length >> 1;
  const left = mergeSort(values.slice(0, middle), less);
  const right = mergeSort(values.slice(middle), less);
  const merged: LuaValue[] = [];
  let a = 0;
  let b = 0;
  while (a < left.length && b < right.length) merged.push(less(right[b], left[a]) ? right[b++] : left[a++]);
  while (a < left.length) merged.push(left[a++]);
  while (b < right.length) merged.push(right[b++]);
  return merged;
}

export const tableFunctions: Readonly<Record<string, LibraryFunction>> = {
  concat,
  getn: (args) => args.table(1).length(),
  insert,
  maxn: (args) => args.table(1).length(),
  remove,
  sort,
};
