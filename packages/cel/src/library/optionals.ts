/** Optional values, and the insert functions of map macros. */
import { ArrayList, describe, HashMap } from "../values/collections.ts";
import type { Row } from "../types/functions.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  type CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
  NO_SUCH_OVERLOAD,
  sizeOf,
} from "../values/values.ts";

const NO_VALUE = new CelError("optional.none() dereference");

/** Reports whether a value is the zero value of its type: zero, empty or false. */
function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return value.seconds === -62_135_596_800 && value.nanos === 0;
  return typeof value === "object" && sizeOf(value) === 0;
}

function unwrap(list: CelList): CelValue {
  const values: CelValue[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (!(item instanceof CelOptional)) return new CelError(`value ${describe(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

const first = (list: CelList): CelValue => (list.size === 0 ? CelOptional.none : new CelOptional(list.at(0)));
const last = (list: CelList): CelValue =>
  list.size === 0 ? CelOptional.none : new CelOptional(list.at(list.size - 1));

function asHashMap(map: CelMap): HashMap {
  if (map instanceof HashMap) return map.copy();
  const copy = new HashMap();
  for (const key of map.keys()) copy.set(key, map.find(key) ?? null);
  return copy;
}

/** Adds one entry, or all of another map; a duplicate key is an error. */
export function insertInto(map: HashMap, keyOrMap: CelValue, value?: CelValue): CelError | undefined {
  if (value !== undefined) return map.insert(keyOrMap, value);
  if (!(keyOrMap instanceof CelMap)) return NO_SUCH_OVERLOAD;
  for (const key of keyOrMap.keys()) {
    const failure = map.insert(key, keyOrMap.find(key) ?? null);
    if (failure) return failure;
  }
  return undefined;
}

function mapInsert(map: CelMap, keyOrMap: CelValue, value?: CelValue): CelValue {
  const copy = asHashMap(map);
  return insertInto(copy, keyOrMap, value) ?? copy;
}

const orValue = (optional: CelOptional, fallback: CelValue): CelValue => optional.value ?? fallback;
const or = (optional: CelOptional, other: CelValue): CelValue => (optional.value === undefined ? other : optional);
/** Field and index operators are compiled separately. */
const built = (): CelValue => NO_SUCH_OVERLOAD;

export const optionals: readonly Row[] = [
  ["optional.of", "optional_of", "(V) -> optional(V)", (value: CelValue) => new CelOptional(value)],
  [
    "optional.ofNonZeroValue",
    "optional_ofNonZeroValue",
    "(V) -> optional(V)",
    (value: CelValue) => (isZero(value) ? CelOptional.none : new CelOptional(value)),
  ],
  ["optional.none", "optional_none", "() -> optional(V)", () => CelOptional.none],
  ["optional.unwrap", "optional_unwrap", "(list(optional(V))) -> list(V)", unwrap],
  ["unwrapOpt", "optional_unwrapOpt", "list(optional(V)).() -> list(V)", unwrap],
  ["value", "optional_value", "optional(V).() -> V", (optional: CelOptional) => optional.value ?? NO_VALUE],
  ["hasValue", "optional_hasValue", "optional(V).() -> bool", (optional: CelOptional) => optional.value !== undefined],
  ["or", "optional_or_optional", "optional(V).(optional(V)) -> optional(V)", or],
  ["orValue", "optional_orValue_value", "optional(V).(V) -> V", orValue],
  ["first", "list_first", "list(V).() -> optional(V)", first],
  ["last", "list_last", "list(V).() -> optional(V)", last],
  ["_?._", "select_optional_field", "(dyn, string) -> optional(V)", built],
  ["_[?_]", "list_optindex_optional_int", "(list(V), int) -> optional(V)", built],
  ["_[?_]", "optional_list_optindex_optional_int", "(optional(list(V)), int) -> optional(V)", built],
  ["_[?_]", "map_optindex_optional_value", "(map(K, V), K) -> optional(V)", built],
  ["_[?_]", "optional_map_optindex_optional_value", "(optional(map(K, V)), K) -> optional(V)", built],
  ["cel.@mapInsert", "@mapInsert_map_key_value", "(map(K, V), K, V) -> map(K, V)", mapInsert],
  ["cel.@mapInsert", "@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", mapInsert],
];
