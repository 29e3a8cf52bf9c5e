/**
 * Loops. The shapes that macros produce (`all`, `exists`, `map`, `filter` and the others) run without a CEL value as
 * accumulator; every other loop runs as written. Both cost the same.
 */
import { ACCUMULATOR, type Call, type Comprehension, type Expr } from "../syntax/ast.ts";
import { ArrayList, HashMap } from "../values/collections.ts";
import type { Compiled, Compiler } from "./compiler.ts";
import type { Evaluate, Frame } from "../values/frame.ts";
import { insertInto } from "../library/optionals.ts";
import { LIST_COST } from "../cost/runtime-cost.ts";
import type { Scope } from "./slots.ts";
import { CelError, CelList, CelMap, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

/** Runs for each element; returns whether to continue. */
type Body = (frame: Frame) => boolean;
/** Runs a body over a range; returns an error when the range is not iterable. */
type Iterate = (frame: Frame, range: CelValue, body: Body) => CelError | undefined;

export function compileLoop(expr: Comprehension, scope: Scope, compiler: Compiler): Evaluate {
  if (isBinding(expr)) return bound(expr, scope, compiler);
  const range = compiler.run(expr.range, scope);
  const accumulator = scope.with(expr.accumulator);
  const { scope: inner, iterate } = variables(expr, accumulator.scope);
  const fold = foldOf(expr, compiler, accumulator, inner);
  return (frame) => {
    const over = range(frame);
    return over instanceof CelError ? over : fold(frame, over, iterate);
  };
}

type Fold = (frame: Frame, range: CelValue, iterate: Iterate) => CelValue;

function foldOf(
  expr: Comprehension,
  compiler: Compiler,
  accumulator: { scope: Scope; slot: number },
  inner: Scope,
): Fold {
  const { step } = expr;
  if (expr.accumulator === ACCUMULATOR && step.kind === "call") {
    if (step.name === "_&&_") return quantified(compiler.run(step.args[1] as Expr, inner), false, 2);
    if (step.name === "_||_") return quantified(compiler.run(step.args[1] as Expr, inner), true, 3);
    const collecting = collectingStep(step);
    if (collecting && expr.init.kind === "list") return collected(collecting, compiler, inner);
    if (collecting && expr.init.kind === "map") return collectedMap(collecting, compiler, inner);
  }
  return general(expr, compiler, accumulator, inner);
}

/** A named value, which is computed on first use. */
const isBinding = ({ range, condition }: Comprehension): boolean =>
  range.kind === "list" && range.elements.length === 0 && condition.kind === "literal" && condition.value === false;

function bound(expr: Comprehension, scope: Scope, compiler: Compiler): Evaluate {
  const init = compiler.run(expr.init, scope);
  const { scope: inner, slot } = scope.with(expr.accumulator, init);
  const result = compiler.run(expr.result, inner);
  return (frame) => {
    frame.slots[slot] = undefined;
    return result(frame);
  };
}

function variables({ variable, variable2 }: Comprehension, scope: Scope): { scope: Scope; iterate: Iterate } {
  const first = scope.with(variable);
  if (variable2 === undefined) return { scope: first.scope, iterate: overOne(first.slot) };
  const second = first.scope.with(variable2);
  return { scope: second.scope, iterate: overTwo(first.slot, second.slot) };
}

const overOne =
  (slot: number): Iterate =>
  (frame, range, body) => {
    if (range instanceof CelList) {
      const { size } = range;
      for (let index = 0; index < size; index++) {
        frame.slots[slot] = range.at(index);
        if (!body(frame)) break;
      }
      return undefined;
    }
    if (!(range instanceof CelMap)) return new CelError(`got '${goTypeOf(range)}', expected iterable type`);
    for (const key of range.keys()) {
      frame.slots[slot] = key;
      if (!body(frame)) break;
    }
    return undefined;
  };

/** The index and the element of a list, or the key and the value of a map. */
const overTwo =
  (first: number, second: number): Iterate =>
  (frame, range, body) => {
    if (range instanceof CelList) {
      const { size } = range;
      for (let index = 0; index < size; index++) {
        frame.slots[first] = index;
        frame.slots[second] = range.at(index);
        if (!body(frame)) break;
      }
      return undefined;
    }
    if (!(range instanceof CelMap)) return new CelError(`unsupported comprehension range type: ${goTypeOf(range)}`);
    for (const key of range.keys()) {
      frame.slots[first] = key;
      frame.slots[second] = range.find(key) ?? null;
      if (!body(frame)) break;
    }
    return undefined;
  };

/** The Go name of the value's type, as upstream's message has it. */
function goTypeOf(value: CelValue): string {
  if (value === null) return "types.Null";
  if (typeof value === "bigint" || typeof value === "number") return "types.Int";
  return `types.${(typeof value).charAt(0).toUpperCase()}${(typeof value).slice(1).replace("ean", "")}`;
}

/**
 * `all` (ends at false) and `exists` (ends at true): each element costs its loop test, the accumulator and the
 * predicate.
 */
function quantified(predicate: Evaluate, decisive: boolean, testCost: number): Fold {
  return (frame, range, iterate) => {
    let result: CelValue = !decisive;
    const failure = iterate(frame, range, () => {
      frame.charge(testCost);
      if (result === decisive) return false;
      frame.charge(1);
      const value = predicate(frame);
      if (value === decisive) result = decisive;
      else if (value !== !decisive && !(result instanceof CelError))
        result = value instanceof CelError ? value : NO_SUCH_OVERLOAD;
      return true;
    });
    frame.charge(1);
    return failure ?? result;
  };
}

interface Collecting {
  readonly filter: Expr | undefined;
  readonly add: Call;
}

/** `accumulator + [x]`, or the same for elements that pass a filter. */
function collectingStep(step: Call): Collecting | undefined {
  if (isCollecting(step)) return { filter: undefined, add: step };
  if (step.name !== "_?_:_") return undefined;
  const [filter, add] = step.args;
  return filter && add?.kind === "call" && isCollecting(add) ? { filter, add } : undefined;
}

function isCollecting({ name, args }: Call): boolean {
  const [first, second] = args;
  if (first?.kind !== "ident" || first.name !== ACCUMULATOR) return false;
  return (
    name === "cel.@mapInsert" ||
    (name === "_+_" && second?.kind === "list" && second.elements.length === 1 && second.optionals.size === 0)
  );
}

/** Runs the filter and, when it passes, the rest; returns the error that ends collecting. */
function filtered(filter: Evaluate | undefined, frame: Frame, add: () => CelError | undefined): CelError | undefined {
  if (!filter) return add();
  const passes = filter(frame);
  if (passes === true) return add();
  if (passes === false) return undefined;
  return passes instanceof CelError ? passes : NO_SUCH_OVERLOAD;
}

/** After collecting has failed, each further element is still evaluated, as upstream does, but nothing is added. */
function collected({ filter, add }: Collecting, compiler: Compiler, scope: Scope): Fold {
  const list = add.args[1] as Expr & { kind: "list" };
  const element: Compiled = compiler.compile(list.elements[0] as Expr, scope);
  const passes = filter && compiler.run(filter, scope);
  // A list of one constant is itself constant, and costs nothing to create.
  const cost = 2 + (element.isConstant ? 0 : LIST_COST);
  return (frame, range, iterate) => {
    const items: CelValue[] = [];
    let failed: CelError | undefined;
    const failure = iterate(frame, range, () => {
      const problem = filtered(passes, frame, () => {
        const value = element.run(frame);
        frame.charge(cost);
        if (value instanceof CelError) return value;
        if (!failed) items.push(value);
        return undefined;
      });
      failed ??= problem;
      return true;
    });
    frame.charge(1);
    return failure ?? failed ?? new ArrayList(items);
  };
}

function collectedMap({ filter, add }: Collecting, compiler: Compiler, scope: Scope): Fold {
  const [key, value] = add.args.slice(1).map((arg) => compiler.run(arg, scope));
  const passes = filter && compiler.run(filter, scope);
  return (frame, range, iterate) => {
    const map = new HashMap();
    let failed: CelError | undefined;
    const failure = iterate(frame, range, () => {
      const problem = filtered(passes, frame, () => {
        frame.charge(1);
        const at = (key as Evaluate)(frame);
        const of = at instanceof CelError || !value ? undefined : value(frame);
        if (at instanceof CelError) return at;
        if (of instanceof CelError) return of;
        frame.charge(1);
        return failed ?? insertInto(map, at, of);
      });
      failed ??= problem;
      return true;
    });
    frame.charge(1);
    return failure ?? failed ?? map;
  };
}

function general(
  expr: Comprehension,
  compiler: Compiler,
  accumulator: { scope: Scope; slot: number },
  inner: Scope,
): Fold {
  const init = compiler.run(expr.init, accumulator.scope);
  const condition = compiler.run(expr.condition, inner);
  const step = compiler.run(expr.step, inner);
  const result = compiler.run(expr.result, accumulator.scope);
  const { slot } = accumulator;
  return (frame, range, iterate) => {
    frame.slots[slot] = init(frame);
    const failure = iterate(frame, range, () => {
      if (condition(frame) === false) return false;
      frame.slots[slot] = step(frame);
      return true;
    });
    return failure ?? result(frame);
  };
}
