/**
 * Run-time costs of calls, in the units of Kubernetes: about fifty nanoseconds of the real server. Traversing a string
 * costs a tenth per character; functions without a rule here cost one.
 */
import { CelFormat } from "../library/formats.ts";
import { CelList, CelMap, CelOpaque, CelOptional, type CelValue, isInt, sizeOf, typeNameOf } from "../values/values.ts";

export const LIST_COST = 10;
export const MAP_COST = 30;
/** An object of a named type. */
export const MESSAGE_COST = 40;
export const TEXT_FACTOR = 0.1;
export const PATTERN_FACTOR = 0.25;

/** Two authorization checks fit into one evaluation. */
export const AUTHORIZATION_COST = 350_000;
/** A selector is parsed into at most one requirement for two characters, each with a list and a struct. */
export const SELECTOR_REQUIREMENTS = 0.5;
export const REQUIREMENT_COST = LIST_COST + MESSAGE_COST;

export type CallCost = (args: readonly CelValue[], result: CelValue) => number;

/** A string of a million characters costs as many tenths; a call always costs at least its share. */
const share = (size: number, factor = TEXT_FACTOR): number => Math.ceil(size * factor);
const argument = (args: readonly CelValue[], index: number): CelValue => args[index] ?? null;

const traversal: CallCost = (args) => share(sizeOf(argument(args, 0)));
const twice: CallCost = (args) => share(sizeOf(argument(args, 0)), 2 * TEXT_FACTOR);
const one: CallCost = () => 1;

const patternCost = (text: number, pattern: number): number =>
  Math.ceil((1 + text) * TEXT_FACTOR) * Math.ceil(pattern * PATTERN_FACTOR);
const searching: CallCost = (args) => patternCost(sizeOf(argument(args, 0)), sizeOf(argument(args, 1)));

/** All of a value's strings and scalars, for functions that visit each element. */
function traverse(value: CelValue): number {
  if (typeof value === "string") return Math.floor(Buffer.byteLength(value) * TEXT_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * TEXT_FACTOR);
  if (value instanceof CelList) {
    let cost = 0;
    for (let index = 0; index < value.size; index++) cost += traverse(value.at(index));
    return cost;
  }
  if (value instanceof CelMap) {
    let cost = 0;
    for (const key of value.keys()) cost += traverse(key) + traverse(value.find(key) ?? null);
    return cost;
  }
  return 1;
}

const allocated = (factor: number, size: number): number => Math.floor(size * factor) + 1 + LIST_COST;

/** Sorting and pairwise comparison. */
function selfCompare(value: CelValue): number {
  if (!(value instanceof CelList) || value.size === 0) return allocated(2, 0);
  const type = typeNameOf(value.at(0));
  return allocated(type === "string" || type === "bytes" ? 2 + TEXT_FACTOR : 2, value.size * value.size);
}

const outputSize: CallCost = (_, result) => allocated(1, sizeOf(result));
const flattened: CallCost = (args) => {
  const depth = argument(args, 1);
  return allocated(isInt(depth) ? Number(depth) : 1, sizeOf(argument(args, 0)));
};
const sets =
  (factor: number): CallCost =>
  (args) =>
    1 + Math.floor(sizeOf(argument(args, 0)) * sizeOf(argument(args, 1)) * factor);

const BY_OVERLOAD: ReadonlyMap<string, CallCost> = new Map([
  ["list_slice", outputSize],
  ["lists_range", outputSize],
  ["list_reverse", outputSize],
  ["list_flatten", flattened],
  ["list_flatten_int", flattened],
  ["list_distinct", (args) => selfCompare(argument(args, 0))],
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
]);

/** A network compares its prefix twice; a string is parsed first. */
const containing =
  (isNetwork: boolean, textOverload: string) =>
  (overload: string): CallCost =>
  (args) => {
    const prefix = sizeOf(argument(args, 0));
    const base = share(2 * prefix) + (isNetwork ? share(prefix) + 1 : 0);
    return overload === textOverload ? base + share(sizeOf(argument(args, 1))) : base;
  };

function validating(args: readonly CelValue[]): number {
  const format = argument(args, 0);
  return format instanceof CelFormat ? patternCost(sizeOf(argument(args, 1)), format.patternSize) : 1;
}

function selecting(args: readonly CelValue[]): number {
  const length = sizeOf(argument(args, 1));
  return LIST_COST + share(length) + Math.ceil(length * SELECTOR_REQUIREMENTS) * REQUIREMENT_COST;
}

const names = (cost: CallCost, ...functions: string[]): [string, (overload: string) => CallCost][] =>
  functions.map((name) => [name, () => cost]);

const BY_FUNCTION: ReadonlyMap<string, (overload: string) => CallCost> = new Map([
  ...names((args) => traverse(argument(args, 0)), "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
  ...names(
    traversal,
    "url",
    "lowerAscii",
    "upperAscii",
    "substring",
    "trim",
    "jsonpatch.escapeKey",
    "cidr",
    "isIP",
    "isCIDR",
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
  ),
  ...names(twice, "replace", "split", "ip.isCanonical"),
  ...names((_, result) => share(sizeOf(result), 2 * TEXT_FACTOR), "join"),
  ...names(searching, "find", "findAll"),
  ["ip", (overload) => (overload === "cidr_ip" ? one : traversal)],
  ["containsIP", containing(false, "cidr_contains_ip_string")],
  ["containsCIDR", containing(true, "cidr_contains_cidr_string")],
  ...names(validating, "validate"),
  ...names(() => AUTHORIZATION_COST, "check"),
  ...names(selecting, "fieldSelector", "labelSelector"),
  ...names((_, result) => LIST_COST + (result instanceof CelList ? result.size * (1 + MAP_COST) : 0), "scores"),
  ...names((args, result) => share(sizeOf(argument(args, 0))) + making(result), "parseJSON"),
]);

/** A value parsed from a string, with all of its contents. */
function making(value: CelValue): number {
  if (value instanceof CelMap)
    return value.keys().reduce<number>((cost, key) => cost + making(value.find(key) ?? null), MAP_COST);
  if (!(value instanceof CelList)) return 0;
  let cost = LIST_COST;
  for (let index = 0; index < value.size; index++) cost += making(value.at(index));
  return cost;
}

const DEFAULTS: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ...[
    "starts_with_string",
    "ends_with_string",
    "string_to_bytes",
    "bytes_to_string",
    "strings_quote",
    "string_format",
  ].map((id): [string, CallCost] => [id, traversal]),
  ["in_list", (args) => sizeOf(argument(args, 1))],
  ...["less", "less_equals", "greater", "greater_equals"]
    .flatMap((id) => [`${id}_string`, `${id}_bytes`])
    .map((id): [string, CallCost] => [id, (args) => comparison(argument(args, 0), argument(args, 1))]),
  ["add_string", (args) => share(sizeOf(argument(args, 0)) + sizeOf(argument(args, 1)))],
  ["add_bytes", (args) => share(sizeOf(argument(args, 0)) + sizeOf(argument(args, 1)))],
  ["matches_string", searching],
  ["contains_string", (args) => share(sizeOf(argument(args, 0))) * share(sizeOf(argument(args, 1)))],
]);

/**
 * The cost function of a call; undefined when it always costs one. `overload` is empty when it is resolved at run time.
 */
export function callCost(name: string, overload: string): CallCost | undefined {
  if (/^list_.*_sort$/.test(overload)) return (args) => selfCompare(argument(args, 0));
  if (/^list_.*_sortByAssociatedKeys$/.test(overload)) return (args) => selfCompare(argument(args, 1));
  return BY_OVERLOAD.get(overload) ?? BY_FUNCTION.get(name)?.(overload) ?? DEFAULTS.get(overload);
}

/** The smaller of two values determines the cost of comparing them. */
function comparison(a: CelValue, b: CelValue): number {
  // Most comparisons are of scalars.
  if (typeof a === "number" && typeof b === "number") return 1;
  return Math.ceil(Math.min(comparedSize(a), comparedSize(b)) * TEXT_FACTOR);
}

/** `a == b` of library values costs one. */
export function equalityCost(a: CelValue, b: CelValue): number {
  return a instanceof CelOpaque ? 1 : comparison(a, b);
}

function comparedSize(value: CelValue): number {
  if (value instanceof CelOptional && value.value !== undefined) return comparedSize(value.value);
  return sizeOf(value);
}
