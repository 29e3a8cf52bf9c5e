/** Lists: sorting, sums, indexes, slices, and lists as sets. */
import { ArrayList, EMPTY_LIST, itemsOf } from "../values/collections.ts";
import { compare, contains, equal } from "../values/equality.ts";
import type { Row } from "../types/functions.ts";
import { add } from "../values/operators.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  type CelInt,
  CelList,
  CelUint,
  type CelValue,
  isInt,
  NO_SUCH_OVERLOAD,
  typeNameOf,
} from "../values/values.ts";

function isSorted(list: CelList): CelValue {
  for (let index = 1; index < list.size; index++) {
    const order = compare(list.at(index - 1), list.at(index));
    if (typeof order === "number" && order > 0) return false;
  }
  return true;
}

const sumFrom =
  (zero: CelValue) =>
  (list: CelList): CelValue => {
    let total = zero;
    for (let index = 0; index < list.size && !(total instanceof CelError); index++) total = add(total, list.at(index));
    return total;
  };

/** The maximum (`sign` 1) or minimum (-1) element. */
const extreme =
  (name: string, sign: 1 | -1) =>
  (list: CelList): CelValue => {
    if (list.size === 0) return new CelError(`${name} called on empty list`);
    let found = list.at(0);
    for (let index = 1; index < list.size; index++) {
      const order = compare(found, list.at(index));
      if (typeof order === "number" && order * sign > 0) found = list.at(index);
    }
    return found;
  };

function indexOf(list: CelList, item: CelValue): CelValue {
  for (let index = 0; index < list.size; index++) if (equal(list.at(index), item) === true) return index;
  return -1;
}

function lastIndexOf(list: CelList, item: CelValue): CelValue {
  for (let index = list.size - 1; index >= 0; index--) if (equal(list.at(index), item) === true) return index;
  return -1;
}

function slice(list: CelList, start: CelInt, end: CelInt): CelValue {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > list.size) return new CelError(`${call}, list is length ${list.size}`);
  return new ArrayList(itemsOf(list).slice(Number(start), Number(end)));
}

/** Values nest no deeper than JSON and expressions do, so the recursion is bounded by both. */
function flatten(list: CelValue, depth: CelValue = 1): CelValue {
  if (!(list instanceof CelList) || !isInt(depth)) return NO_SUCH_OVERLOAD;
  if (depth < 0) return new CelError("level must be non-negative");
  const flat: CelValue[] = [];
  collect(list, Number(depth), flat);
  return new ArrayList(flat);
}

function collect(list: CelList, depth: number, into: CelValue[]): void {
  for (const item of itemsOf(list)) {
    if (item instanceof CelList && depth > 0) collect(item, depth - 1, into);
    else into.push(item);
  }
}

const sort = (list: CelList): CelValue => sortBy(list, list);

function sortBy(list: CelList, keys: CelList): CelValue {
  if (list.size !== keys.size) {
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    );
  }
  if (list.size === 0) return list;
  const sorted = itemsOf(keys).map((key, index) => ({ key, index }));
  const type = typeNameOf(keys.at(0));
  if (sorted.some(({ key }) => typeNameOf(key) !== type)) return new CelError("list elements must have the same type");
  let failure: CelError | undefined;
  sorted.sort((a, b) => {
    const order = compare(a.key, b.key);
    if (typeof order === "number") return order;
    failure = order;
    return 0;
  });
  if (failure === NO_SUCH_OVERLOAD) return new CelError("list elements must be comparable");
  return new ArrayList(sorted.map(({ index }) => list.at(index)));
}

/** More than any call may cost; the cost would be charged too late, after the list was allocated. */
const MAX_RANGE = 1_000_000;

function range(count: CelInt): CelValue {
  if (count > MAX_RANGE) return new CelError(`lists.range(${count}) is longer than ${MAX_RANGE} elements`);
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => index));
}

const reverse = (list: CelList): CelValue => new ArrayList(itemsOf(list).toReversed());

function distinct(list: CelList): CelValue {
  const items = itemsOf(list);
  if (items.length === 0) return EMPTY_LIST;
  // Scalars are equal when they are identical, unless numbers of several types are among them.
  if (items.every((item) => typeof item !== "object")) return new ArrayList([...new Set(items)]);
  const found: CelValue[] = [];
  for (const item of items) if (!found.some((other) => equal(item, other) === true)) found.push(item);
  return new ArrayList(found);
}

function setContains(list: CelList, part: CelList): CelValue {
  for (let index = 0; index < part.size; index++) {
    const found = contains(list, part.at(index));
    if (found !== true) return found;
  }
  return true;
}

function setEquivalent(a: CelList, b: CelList): CelValue {
  const forth = setContains(a, b);
  return forth === true ? setContains(b, a) : forth;
}

function setIntersects(a: CelList, b: CelList): CelValue {
  for (let index = 0; index < a.size; index++) if (contains(b, a.at(index)) === true) return true;
  return false;
}

const COMPARABLE = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
/** Two libraries use different type names in their overload ids. */
const longName = (type: string): string =>
  type === "duration" || type === "timestamp"
    ? `google.protobuf.${type === "duration" ? "Duration" : "Timestamp"}`
    : type;
const perType = (types: readonly string[], row: (type: string) => Row): Row[] => types.map(row);

const ZEROS: readonly (readonly [string, CelValue])[] = [
  ["int", 0],
  ["uint", new CelUint(0n)],
  ["double", new CelDouble(0)],
  ["duration", new CelDuration(0n)],
];

export const lists: readonly Row[] = [
  ...perType(COMPARABLE, (type) => ["isSorted", `list_${type}_is_sorted_bool`, `list(${type}).() -> bool`, isSorted]),
  ...ZEROS.map(([type, zero]): Row => [
    "sum",
    `list_${type}_sum_${type}`,
    `list(${type}).() -> ${type}`,
    sumFrom(zero),
  ]),
  ...perType(COMPARABLE, (type) => [
    "max",
    `list_${type}_max_${type}`,
    `list(${type}).() -> ${type}`,
    extreme("max", -1),
  ]),
  ...perType(COMPARABLE, (type) => [
    "min",
    `list_${type}_min_${type}`,
    `list(${type}).() -> ${type}`,
    extreme("min", 1),
  ]),
  ["indexOf", "list_a_index_of_int", "list(A).(A) -> int", indexOf],
  ["lastIndexOf", "list_a_last_index_of_int", "list(A).(A) -> int", lastIndexOf],
  ["slice", "list_slice", "list(T).(int, int) -> list(T)", slice],
  ["flatten", "list_flatten", "list(list(T)).() -> list(T)", flatten, "checks itself"],
  ["flatten", "list_flatten_int", "list(dyn).(int) -> list(dyn)", flatten, "checks itself"],
  ...perType(COMPARABLE, (type) => ["sort", `list_${longName(type)}_sort`, `list(${type}).() -> list(${type})`, sort]),
  ...perType(COMPARABLE, (type) => [
    "@sortByAssociatedKeys",
    `list_${longName(type)}_sortByAssociatedKeys`,
    `list(T).(list(${type})) -> list(T)`,
    sortBy,
  ]),
  ["lists.range", "lists_range", "(int) -> list(int)", range],
  ["reverse", "list_reverse", "list(T).() -> list(T)", reverse],
  ["distinct", "list_distinct", "list(T).() -> list(T)", distinct],
  ["sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", setContains],
  ["sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) -> bool", setEquivalent],
  ["sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", setIntersects],
];
