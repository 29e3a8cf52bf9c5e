/** Static cost and size of calls, by function: the upper bounds of the costs that `runtime-cost.ts` counts. */
import {
  AUTHORIZATION_COST,
  LIST_COST,
  PATTERN_FACTOR,
  REQUIREMENT_COST,
  SELECTOR_REQUIREMENTS,
  TEXT_FACTOR,
} from "./runtime-cost.ts";
import { exactly, MAX, plus, type Range, range, scaled, times, UNKNOWN } from "./size-range.ts";
import type { CallEstimate, CostNode, Estimator } from "./static-cost.ts";
import type { CelType } from "../types/types.ts";

/** A complete estimate already includes the cost of the arguments. */
type Estimate = CallEstimate & { isComplete?: boolean };
type Estimating = (call: EstimatedCall) => Estimate | undefined;

interface EstimatedCall {
  readonly overload: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
  size(node: CostNode | undefined): Range;
}

const ONE = exactly(1);
const one: Estimating = () => ({ cost: ONE });
const textOf = (size: Range, factor = 1): Range => scaled(size, factor * TEXT_FACTOR);

/** Reads its first argument once. */
const reading: Estimating = ({ args, size }) => (args.length === 0 ? undefined : { cost: textOf(size(args[0])) });
/** Produces a string as long as its target. */
const mapping: Estimating = ({ target, size }) => target && { cost: textOf(size(target)), size: size(target) };

/** The element of a list, whose size follows the list's path. */
function elementOf({ target, size }: EstimatedCall): { type: CelType; size: Range } | undefined {
  const type = target?.type.parameters[0];
  if (!target || !type) return undefined;
  return {
    type,
    size: size({ expr: undefined, type, path: target.path && [...target.path, "@items"], size: undefined }),
  };
}

const perElement: Estimating = (call) => {
  const { target, size } = call;
  if (!target) return undefined;
  const element = elementOf(call);
  if (!element) return { cost: textOf(size(target)) };
  const isText = element.type.kind === "string" || element.type.kind === "bytes";
  return { cost: times(size(target), isText ? plus(ONE, textOf(element.size)) : ONE) };
};

const replacing: Estimating = ({ target, args, size }) => {
  if (!target || args.length < 2) return undefined;
  const [text, from, to] = [size(target), size(args[0]), size(args[1])];
  let [count, kept]: [Range, Range] = [range(0, 0), range(0, 0)];
  // The longest result: the shortest matches are replaced by the longest replacement.
  if (from.min === 0)
    [count, kept] = [
      { ...count, max: Math.min(text.max + 1, MAX) },
      { ...kept, max: text.max },
    ];
  else if (to.max <= from.min) kept = { ...kept, max: text.max };
  else count = { ...count, max: Math.ceil(text.max / from.min) };
  // The shortest result.
  if (from.max === 0)
    [count, kept] = [
      { ...count, min: text.min + 1 },
      { ...kept, min: text.min },
    ];
  else if (from.max <= to.min) kept = { ...kept, min: text.min };
  else count = { ...count, min: Math.ceil(text.min / from.max) };
  return { cost: textOf(text, 2), size: plus(times(count, to), kept) };
};

const splitting: Estimating = ({ target, args, size }) => {
  if (!target) return undefined;
  const limit = args[1]?.expr;
  const most =
    limit?.kind === "literal" && typeof limit.value === "number"
      ? limit.value < 0
        ? MAX
        : limit.value
      : size(target).max;
  return { cost: textOf(size(target), 2), size: range(0, most) };
};

const joining: Estimating = (call) => {
  const { target, args, size } = call;
  if (!target) return undefined;
  const list = size(target);
  const element = elementOf(call);
  let length = element ? times(list, element.size) : range(0, 0);
  if (args.length > 0)
    length = plus(length, times(size(args[0]), range(Math.max(0, list.min - 1), Math.max(0, list.max - 1))));
  return { cost: textOf(length), size: length };
};

const patternCost = (text: Range, pattern: Range): Range =>
  times(textOf(plus(text, ONE)), scaled(pattern, PATTERN_FACTOR));

const finding: Estimating = ({ target, args, size }) => {
  if (!target || args.length === 0) return undefined;
  return { cost: patternCost(size(target), size(args[0])), size: range(0, size(target).max) };
};

/** IP addresses have four or sixteen bytes. */
const ADDRESS = range(4, 16);
const containing =
  (isNetwork: boolean, textOverload: string): Estimating =>
  ({ overload, args, size }) => {
    let cost = textOf(plus(ADDRESS, ADDRESS));
    if (isNetwork) cost = plus(plus(cost, textOf(ADDRESS)), ONE);
    return { cost: overload === textOverload ? plus(cost, textOf(size(args[0]))) : cost };
  };

/** The longest pattern of a named format. */
const FORMAT_PATTERN = 128;
const validating: Estimating = ({ args, size }) => ({
  cost: scaled(textOf(size(args[0])), FORMAT_PATTERN * PATTERN_FACTOR),
});

const selecting: Estimating = ({ args, size }) => {
  const length = size(args[0]);
  const requirements = scaled(scaled(length, SELECTOR_REQUIREMENTS), REQUIREMENT_COST);
  return { cost: plus(plus(exactly(LIST_COST), textOf(length)), requirements) };
};

const named = (estimate: Estimating, ...names: string[]): [string, Estimating][] =>
  names.map((name) => [name, estimate]);

const BY_FUNCTION: ReadonlyMap<string, Estimating> = new Map([
  ...named(perElement, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
  ...named(
    ({ args, size }) => (args.length === 1 ? { cost: textOf(size(args[0])), size: size(args[0]) } : undefined),
    "url",
    "jsonpatch.escapeKey",
  ),
  ...named(mapping, "lowerAscii", "upperAscii", "substring", "trim"),
  ...named(replacing, "replace"),
  ...named(splitting, "split"),
  ...named(joining, "join"),
  ...named(finding, "find", "findAll"),
  ...named(reading, "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
  ["ip", (call) => (call.overload === "cidr_ip" ? { cost: ONE } : reading(call))],
  ...named(({ args, size }) => (args.length === 0 ? undefined : { cost: textOf(size(args[0]), 2) }), "ip.isCanonical"),
  ["containsIP", containing(false, "cidr_contains_ip_string")],
  ["containsCIDR", containing(true, "cidr_contains_cidr_string")],
  ...named(validating, "validate"),
  ...named(() => ({ cost: exactly(AUTHORIZATION_COST) }), "check"),
  ...named(selecting, "fieldSelector", "labelSelector"),
  ...named(
    one,
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "format.named",
  ),
  ...named(
    one,
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
  ),
  ...named(one, "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
]);

/** A call that allocates a list. */
const allocating = (factor: number, size: Range): Estimate => ({
  cost: plus(plus(scaled(size, factor), ONE), exactly(LIST_COST)),
  size,
});

/** A literal number, or the fallback. */
function writtenInt(node: CostNode | undefined, fallback: number): number {
  const expr = node?.expr;
  if (expr?.kind !== "literal" || (typeof expr.value !== "number" && typeof expr.value !== "bigint")) return fallback;
  return Math.max(0, Number(expr.value));
}

const squared = (size: Range): Range => times(size, size);

const BY_OVERLOAD: ReadonlyMap<string, Estimating> = new Map<string, Estimating>([
  [
    "list_slice",
    ({ target, args, size }) => {
      const length = writtenInt(args[1], size(target).max) - writtenInt(args[0], 0);
      return allocating(1, exactly(length < 0 ? MAX : length));
    },
  ],
  ["lists_range", ({ args }) => allocating(1, exactly(writtenInt(args[0], MAX)))],
  ["list_reverse", ({ target, size }) => allocating(1, size(target))],
  ["list_flatten", ({ target, size }) => allocating(1, size(target))],
  ["list_flatten_int", ({ target, args, size }) => allocating(writtenInt(args[0], MAX), size(target))],
  ["list_distinct", ({ target, size }) => allocating(2, squared(size(target)))],
  ...(["contains", "intersects", "equivalent"] as const).map((name): [string, Estimating] => [
    `list_sets_${name}_list`,
    ({ args, size }) => ({
      cost: plus(scaled(times(size(args[0]), size(args[1])), name === "equivalent" ? 2 : 1), ONE),
    }),
  ]),
  ["string_format", ({ target, size }) => target && { cost: textOf(size(target)) }],
  [
    "string_to_bytes",
    ({ args, size }) => ({ cost: textOf(size(args[0])), size: range(size(args[0]).min, size(args[0]).max * 4) }),
  ],
  [
    "bytes_to_string",
    ({ args, size }) => ({
      cost: textOf(size(args[0])),
      size: range(Math.floor(size(args[0]).min / 4), size(args[0]).max),
    }),
  ],
  [
    "strings_quote",
    ({ args, size }) => ({
      cost: textOf(size(args[0])),
      size: range(size(args[0]).min + 2, size(args[0]).max * 2 + 2),
    }),
  ],
  ["starts_with_string", ({ args, size }) => ({ cost: textOf(size(args[0])) })],
  ["ends_with_string", ({ args, size }) => ({ cost: textOf(size(args[0])) })],
  ["matches_string", ({ target, args, size }) => target && { cost: patternCost(size(target), size(args[0])) }],
  [
    "contains_string",
    ({ target, args, size }) => target && { cost: times(textOf(size(target)), textOf(size(args[0]))) },
  ],
]);

const SORT = /^list_(.*)_(sort|sortByAssociatedKeys)$/;

function sorting(call: EstimatedCall): Estimate | undefined {
  const [, type, kind] = SORT.exec(call.overload) ?? [];
  if (type === undefined) return undefined;
  const factor = type === "string" || type === "bytes" ? 2 + TEXT_FACTOR : 2;
  return allocating(factor, squared(call.size(kind === "sort" ? call.target : call.args[0])));
}

const LIBRARY_TYPES = new Set(["net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"]);

/** The cost of comparing library values does not depend on their size. */
function libraryEquality([a, b]: readonly CostNode[]): Estimate | undefined {
  if (!a || !b || a.type.name !== b.type.name || a.type.kind !== b.type.kind) return undefined;
  if (LIBRARY_TYPES.has(a.type.name)) return { cost: ONE };
  if (a.type.name === "kubernetes.NamedFormat") return { cost: textOf(range(1, 64)) };
  if (a.type.name === "kubernetes.URL") return { cost: textOf(range(1, b.size?.max ?? 1)) };
  return undefined;
}

/** The estimate of a call; undefined for operators, whose operands determine it. */
export function callEstimate(
  name: string,
  overload: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
  estimator: Estimator,
): Estimate | undefined {
  const size = (node: CostNode | undefined): Range =>
    node?.size ?? (node?.path && estimator.declaredSize(node.path)) ?? UNKNOWN;
  const call: EstimatedCall = { overload, target, args, size };
  if (name === "_==_") return libraryEquality(args);
  // Lists and sets come first: `indexOf` of a string differs from that of a list, but both are dispatched by function
  // name.
  return (
    sorting(call) ??
    (overload.startsWith("list_s") || !BY_FUNCTION.has(name) ? BY_OVERLOAD.get(overload)?.(call) : undefined) ??
    BY_FUNCTION.get(name)?.(call)
  );
}
