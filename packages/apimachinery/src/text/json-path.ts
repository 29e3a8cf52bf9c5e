/**
 * JSON paths in kubectl's dialect, compiled once, for printer columns: `.spec.replicas`, `.metadata.labels['a\.b']`,
 * `.status.conditions[?(@.type=="Ready")].status`, `[*]`, `[0]`, `[-1]`, `[0:4:2]`, `[0,2]`, `..name`.
 *
 * A path that is invalid for an object, such as an index past the end of its list, finds nothing as a whole, as in
 * kubectl.
 */
import { readPath, type Node } from "./json-path-reader.ts";
import { badRequest } from "../status.ts";
import { isObject } from "@flotilla/base";

export type JsonPath = (object: unknown) => unknown[];
/** All results for the values; undefined when one of them cannot be followed. */
type Step = (values: readonly unknown[]) => unknown[] | undefined;

/** Paths come from CustomResourceDefinitions. */
const MAX_LENGTH = 4096;
const MAX_STEPS = 64;
/** Results are cut at this number; nested wildcards could find billions. */
const MAX_VALUES = 10_000;
const MAX_VISITED = 100_000;

/** Throws a bad request when the path is invalid. The function returns all values that the path finds. */
export function compileJsonPath(path: string): JsonPath {
  const follow = compileStrictJsonPath(path);
  return (object) => follow(object) ?? [];
}

/** The same for callers that distinguish a path without results from one that is invalid for an object (undefined). */
export function compileStrictJsonPath(path: string): (object: unknown) => unknown[] | undefined {
  if (path.length > MAX_LENGTH) throw badRequest(`the JSON path is longer than ${MAX_LENGTH} characters`);
  const nodes = readPath(path);
  if (nodes.length > MAX_STEPS)
    throw badRequest(`the JSON path ${JSON.stringify(path)} has more than ${MAX_STEPS} steps`);
  const follow = stepsOf(nodes);
  return (object) => follow([object]);
}

function stepsOf(nodes: readonly Node[]): Step {
  const steps = nodes.map(stepOf);
  return (values) => {
    let found: unknown[] | undefined = values as unknown[];
    for (const step of steps) {
      found = step(found);
      if (!found) return undefined;
      if (found.length > MAX_VALUES) found.length = MAX_VALUES;
    }
    return found;
  };
}

function stepOf(node: Node): Step {
  switch (node.type) {
    case "field":
      return (values) =>
        values
          .filter((value) => isObject(value) && Object.hasOwn(value, node.name) && value[node.name] !== undefined)
          .map((value) => (value as Record<string, unknown>)[node.name]);
    case "constant":
      return (values) => (typeof node.value === "string" ? [node.value] : values.map(() => node.value));
    case "wildcard":
      return (values) => gather(values, childrenOf);
    case "recursive":
      return descend;
    case "range":
      return (values) => selectEach(values, (list) => sliceOf(list, node));
    case "union": {
      const branches = node.branches.map(stepsOf);
      return (values) => {
        const found = branches.map((branch) => branch(values));
        return found.includes(undefined) ? undefined : found.flatMap((part) => part ?? []);
      };
    }
    default:
      return filterStep(node.left, node.operator, node.right);
  }
}

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

/** The results for each value, up to the limit. */
function gather(values: readonly unknown[], give: (value: unknown) => readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  for (const value of values) {
    for (const item of give(value)) {
      if (found.length === MAX_VALUES) return found;
      found.push(item);
    }
  }
  return found;
}

/** Values that are not lists cannot be indexed; null is skipped. */
function selectEach(
  values: readonly unknown[],
  select: (list: readonly unknown[]) => readonly unknown[] | undefined,
): unknown[] | undefined {
  let isGood = true;
  const found = gather(values, (value) => {
    if (value === null) return [];
    const selected = Array.isArray(value) ? select(value) : undefined;
    isGood &&= selected !== undefined;
    return selected ?? [];
  });
  return isGood ? found : undefined;
}

/**
 * Every non-empty value, followed by its contents. Values may be nested in each other, so visited values are counted
 * too.
 */
function descend(values: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  const pending = values.toReversed();
  for (let visited = 0; pending.length > 0 && found.length < MAX_VALUES && visited < MAX_VISITED; visited++) {
    const value = pending.pop();
    const children = childrenOf(value);
    if (children.length > 0 || (typeof value === "string" && value !== "")) found.push(value);
    for (const child of children.toReversed()) pending.push(child);
  }
  return found;
}

/** Negative indexes count from the end. A single index past the end is an error, and so is a range beyond the list. */
function sliceOf(
  list: readonly unknown[],
  { from = 0, to, isSingle, step = 1 }: { from?: number; to?: number; isSingle: boolean; step?: number },
): readonly unknown[] | undefined {
  const { length } = list;
  const start = from < 0 ? from + length : from;
  const given = isSingle ? from + 1 : (to ?? length);
  const end = given < 0 || (given === 0 && isSingle) ? given + length : given;
  if (start === end) return [];
  if (start < 0 || start >= length || end < 0 || end > length || start > end || step <= 0) return undefined;
  const part = list.slice(start, end);
  return step === 1 ? part : part.filter((_, index) => index % step === 0);
}

function filterStep(left: readonly Node[], operator: string, right: readonly Node[]): Step {
  const [leftOf, rightOf] = [stepsOf(left), stepsOf(right)];
  /** Undefined when the two cannot be compared. */
  const passes = (item: unknown): boolean | undefined => {
    const lefts = leftOf([item]);
    // A value that cannot be followed counts as existing.
    if (operator === "exists") return lefts === undefined || lefts.length > 0;
    const rights = lefts && lefts.length > 0 ? rightOf([item]) : [];
    if (!lefts || !rights || lefts.length > 1 || rights.length > 1) return undefined;
    return lefts.length === 0 || rights.length === 0 ? false : compare(operator, lefts[0], rights[0]);
  };
  return (values) => {
    if (values.includes(null)) return undefined;
    return selectEach(values, (list) => {
      const kept: unknown[] = [];
      for (const item of list) {
        const isKept = passes(item);
        if (isKept === undefined) return undefined;
        if (isKept) kept.push(item);
      }
      return kept;
    });
  };
}

const kindOf = (value: unknown): string =>
  typeof value === "number" ? (Number.isInteger(value) ? "integer" : "float") : typeof value;

/** Only values of one type are compared, and only numbers and strings have an order. */
function compare(operator: string, left: unknown, right: unknown): boolean | undefined {
  const kind = kindOf(left);
  if (kind !== kindOf(right) || kind === "object") return undefined;
  if (operator === "==" || operator === "!=") return (left === right) === (operator === "==");
  if (kind === "boolean") return undefined;
  const [a, b] = [left as string | number, right as string | number];
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    default:
      return undefined;
  }
}
