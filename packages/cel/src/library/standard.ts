/** CEL's standard functions: operators, conversions, sizes, strings and times. */
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from "../values/conversions.ts";
import { equal } from "../values/equality.ts";
import type { Row } from "../types/functions.ts";
import {
  add,
  divide,
  greater,
  greaterOrEqual,
  isIn,
  less,
  lessOrEqual,
  logicalNot,
  modulo,
  multiply,
  negate,
  size,
  subtract,
} from "../values/operators.ts";
import { CelTypeValue, type CelValue, NO_SUCH_OVERLOAD, typeNameOf } from "../values/values.ts";

const NUMBERS = [
  ["int64", "int"],
  ["uint64", "uint"],
  ["double", "double"],
] as const;
const ORDERED = ["string", "bytes", "timestamp", "duration"] as const;

/** One comparison operator: numbers of any two types, and two values of each ordered type. */
function comparison(name: string, id: string, run: (a: CelValue, b: CelValue) => CelValue): Row[] {
  const numbers = NUMBERS.flatMap(([left, leftType]) => {
    const same: Row = [name, `${id}_${left}`, `(${leftType}, ${leftType}) -> bool`, run, "checks itself"];
    const others = NUMBERS.filter(([right]) => right !== left).map(([right, rightType]): Row => [
      name,
      `${id}_${left}_${right}`,
      `(${leftType}, ${rightType}) -> bool`,
      run,
      "checks itself",
    ]);
    return [same, ...others];
  });
  return [
    [name, `${id}_bool`, "(bool, bool) -> bool", run, "checks itself"],
    ...numbers,
    ...ORDERED.map((type): Row => [name, `${id}_${type}`, `(${type}, ${type}) -> bool`, run, "checks itself"]),
  ];
}

const identity = (value: CelValue): CelValue => value;
const notEqual = (a: CelValue, b: CelValue): CelValue => equal(a, b) !== true;
/** Compiled separately; the rows declare their signatures. */
const built = (): CelValue => NO_SUCH_OVERLOAD;

export const operators: readonly Row[] = [
  ["_?_:_", "conditional", "(bool, A, A) -> A", built, "checks itself"],
  ["_&&_", "logical_and", "(bool, bool) -> bool", built, "checks itself"],
  ["_||_", "logical_or", "(bool, bool) -> bool", built, "checks itself"],
  ["!_", "logical_not", "(bool) -> bool", logicalNot, "checks itself"],
  ["@not_strictly_false", "not_strictly_false", "(bool) -> bool", built, "checks itself"],
  ["_==_", "equals", "(A, A) -> bool", equal, "checks itself"],
  ["_!=_", "not_equals", "(A, A) -> bool", notEqual, "checks itself"],
  ["_+_", "add_bytes", "(bytes, bytes) -> bytes", add, "checks itself"],
  ["_+_", "add_double", "(double, double) -> double", add, "checks itself"],
  ["_+_", "add_duration_duration", "(duration, duration) -> duration", add, "checks itself"],
  ["_+_", "add_duration_timestamp", "(duration, timestamp) -> timestamp", add, "checks itself"],
  ["_+_", "add_timestamp_duration", "(timestamp, duration) -> timestamp", add, "checks itself"],
  ["_+_", "add_int64", "(int, int) -> int", add, "checks itself"],
  ["_+_", "add_list", "(list(A), list(A)) -> list(A)", add, "checks itself"],
  ["_+_", "add_string", "(string, string) -> string", add, "checks itself"],
  ["_+_", "add_uint64", "(uint, uint) -> uint", add, "checks itself"],
  ["_-_", "subtract_double", "(double, double) -> double", subtract, "checks itself"],
  ["_-_", "subtract_duration_duration", "(duration, duration) -> duration", subtract, "checks itself"],
  ["_-_", "subtract_int64", "(int, int) -> int", subtract, "checks itself"],
  ["_-_", "subtract_timestamp_duration", "(timestamp, duration) -> timestamp", subtract, "checks itself"],
  ["_-_", "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", subtract, "checks itself"],
  ["_-_", "subtract_uint64", "(uint, uint) -> uint", subtract, "checks itself"],
  ["_*_", "multiply_double", "(double, double) -> double", multiply, "checks itself"],
  ["_*_", "multiply_int64", "(int, int) -> int", multiply, "checks itself"],
  ["_*_", "multiply_uint64", "(uint, uint) -> uint", multiply, "checks itself"],
  ["_/_", "divide_double", "(double, double) -> double", divide, "checks itself"],
  ["_/_", "divide_int64", "(int, int) -> int", divide, "checks itself"],
  ["_/_", "divide_uint64", "(uint, uint) -> uint", divide, "checks itself"],
  ["_%_", "modulo_int64", "(int, int) -> int", modulo, "checks itself"],
  ["_%_", "modulo_uint64", "(uint, uint) -> uint", modulo, "checks itself"],
  ["-_", "negate_double", "(double) -> double", negate, "checks itself"],
  ["-_", "negate_int64", "(int) -> int", negate, "checks itself"],
  ...comparison("_<_", "less", less),
  ...comparison("_<=_", "less_equals", lessOrEqual),
  ...comparison("_>_", "greater", greater),
  ...comparison("_>=_", "greater_equals", greaterOrEqual),
  ["@in", "in_list", "(A, list(A)) -> bool", isIn, "checks itself"],
  ["@in", "in_map", "(A, map(A, B)) -> bool", isIn, "checks itself"],
  ["_[_]", "index_list", "(list(A), int) -> A", built, "checks itself"],
  ["_[_]", "index_map", "(map(A, B), A) -> B", built, "checks itself"],
  ["_[_]", "optional_list_index_int", "(optional(list(V)), int) -> optional(V)", built, "checks itself"],
  ["_[_]", "optional_map_index_value", "(optional(map(K, V)), K) -> optional(V)", built, "checks itself"],
];

export const conversions: readonly Row[] = [
  ["dyn", "to_dyn", "(A) -> dyn", identity, "checks itself"],
  ["type", "type", "(A) -> type(A)", (value: CelValue) => new CelTypeValue(typeNameOf(value)), "checks itself"],
  ["bool", "bool_to_bool", "(bool) -> bool", toBool],
  ["bool", "string_to_bool", "(string) -> bool", toBool],
  ["bytes", "bytes_to_bytes", "(bytes) -> bytes", toBytes],
  ["bytes", "string_to_bytes", "(string) -> bytes", toBytes],
  ["double", "double_to_double", "(double) -> double", toDouble],
  ["double", "int64_to_double", "(int) -> double", toDouble],
  ["double", "string_to_double", "(string) -> double", toDouble],
  ["double", "uint64_to_double", "(uint) -> double", toDouble],
  ["duration", "duration_to_duration", "(duration) -> duration", toDuration],
  ["duration", "int64_to_duration", "(int) -> duration", toDuration],
  ["duration", "string_to_duration", "(string) -> duration", toDuration],
  ["int", "int64_to_int64", "(int) -> int", toInt],
  ["int", "double_to_int64", "(double) -> int", toInt],
  ["int", "duration_to_int64", "(duration) -> int", toInt],
  ["int", "string_to_int64", "(string) -> int", toInt],
  ["int", "timestamp_to_int64", "(timestamp) -> int", toInt],
  ["int", "uint64_to_int64", "(uint) -> int", toInt],
  ["string", "string_to_string", "(string) -> string", toText],
  ["string", "bool_to_string", "(bool) -> string", toText],
  ["string", "bytes_to_string", "(bytes) -> string", toText],
  ["string", "double_to_string", "(double) -> string", toText],
  ["string", "duration_to_string", "(duration) -> string", toText],
  ["string", "int64_to_string", "(int) -> string", toText],
  ["string", "timestamp_to_string", "(timestamp) -> string", toText],
  ["string", "uint64_to_string", "(uint) -> string", toText],
  ["timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", toTimestamp],
  ["timestamp", "int64_to_timestamp", "(int) -> timestamp", toTimestamp],
  ["timestamp", "string_to_timestamp", "(string) -> timestamp", toTimestamp],
  ["uint", "uint64_to_uint64", "(uint) -> uint", toUint],
  ["uint", "double_to_uint64", "(double) -> uint", toUint],
  ["uint", "int64_to_uint64", "(int) -> uint", toUint],
  ["uint", "string_to_uint64", "(string) -> uint", toUint],
];

/** A predicate on two strings. */
const stringPredicate =
  (ask: (text: string, part: string) => boolean) =>
  (text: CelValue, part: CelValue): CelValue =>
    typeof text === "string" && typeof part === "string" ? ask(text, part) : NO_SUCH_OVERLOAD;

export const basics: readonly Row[] = [
  ["size", "size_bytes", "(bytes) -> int", size, "checks itself"],
  ["size", "bytes_size", "bytes.() -> int", size, "checks itself"],
  ["size", "size_list", "(list(A)) -> int", size, "checks itself"],
  ["size", "list_size", "list(A).() -> int", size, "checks itself"],
  ["size", "size_map", "(map(A, B)) -> int", size, "checks itself"],
  ["size", "map_size", "map(A, B).() -> int", size, "checks itself"],
  ["size", "size_string", "(string) -> int", size, "checks itself"],
  ["size", "string_size", "string.() -> int", size, "checks itself"],
  [
    "contains",
    "contains_string",
    "string.(string) -> bool",
    stringPredicate((text, part) => text.includes(part)),
    "checks itself",
  ],
  [
    "endsWith",
    "ends_with_string",
    "string.(string) -> bool",
    stringPredicate((text, part) => text.endsWith(part)),
    "checks itself",
  ],
  [
    "startsWith",
    "starts_with_string",
    "string.(string) -> bool",
    stringPredicate((text, part) => text.startsWith(part)),
    "checks itself",
  ],
];
