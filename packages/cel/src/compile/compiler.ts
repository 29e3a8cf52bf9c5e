/**
 * Compiles a checked tree into closures. Constants are folded here, once. Loops from macros are recognized and run
 * without building their intermediate values; their cost is counted as if they did.
 */
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from "../syntax/ast.ts";
import { computedStep, constantStep, type Step, testStep, walk } from "./attributes.ts";
import { ArrayList, describe, EMPTY_LIST, HashMap, MessageValue } from "../values/collections.ts";
import { compileLoop } from "./comprehensions.ts";
import { equal } from "../values/equality.ts";
import type { Evaluate } from "../values/frame.ts";
import { accepts, type FunctionDeclaration, noSuchOverload, type Overload } from "../types/functions.ts";
import { type CallCost, callCost, equalityCost, LIST_COST, MAP_COST, MESSAGE_COST } from "../cost/runtime-cost.ts";
import type { Scope } from "./slots.ts";
import { patternProblem, takeSearchSteps } from "../values/regex.ts";
import {
  CelDouble,
  CelError,
  CelList,
  CelOptional,
  CelUint,
  type CelValue,
  NO_SUCH_OVERLOAD,
} from "../values/values.ts";

/** The expression has a constant part that cannot be evaluated. */
export class InstantiationError extends Error {}

const CONVERSIONS = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);
const SEARCHES = new Set(["matches", "find", "findAll"]);

/** A compiled node. A constant costs nothing and needs no frame. */
export interface Compiled {
  readonly run: Evaluate;
  readonly constant?: CelValue;
  readonly isConstant: boolean;
}

const constant = (value: CelValue): Compiled => ({ run: () => value, constant: value, isConstant: true });
const computed = (run: Evaluate): Compiled => ({ run, isConstant: false });
const constantOf = ({ constant: value }: Compiled): CelValue => value as CelValue;

/** A path: its start and its steps. `isChoice` paths have no cost of their own. */
interface Path {
  readonly start: Evaluate;
  readonly steps: readonly Step[];
  readonly isChoice: boolean;
}

export class Compiler {
  private readonly functions: ReadonlyMap<string, FunctionDeclaration>;

  constructor(functions: ReadonlyMap<string, FunctionDeclaration>) {
    this.functions = functions;
  }

  compile(expr: Expr, scope: Scope): Compiled {
    switch (expr.kind) {
      case "literal":
        return constant(expr.value);
      case "ident":
        return expr.constant === undefined ? this.pathResult(expr, scope) : constant(expr.constant);
      case "select":
        if (expr.constant !== undefined) return constant(expr.constant);
        return expr.isTest ? computed(this.test(expr, scope)) : this.pathResult(expr, scope);
      case "list":
        return this.list(expr, scope);
      case "map":
        return this.map(expr, scope);
      case "comprehension":
        return computed(this.loop(expr, scope));
      case "struct":
        return computed(this.message(expr, scope));
      default:
        return this.call(expr, scope);
    }
  }

  run(expr: Expr, scope: Scope): Evaluate {
    return this.compile(expr, scope).run;
  }

  // ---- Paths ----

  private isPath(expr: Expr): boolean {
    if (expr.kind === "ident" || expr.kind === "select") return expr.constant === undefined;
    return (
      expr.kind === "call" &&
      (expr.name === "_?_:_" || expr.name === "_[_]" || expr.name === "_[?_]" || expr.name === "_?._")
    );
  }

  private pathResult(expr: Expr, scope: Scope): Compiled {
    const path = this.path(expr, scope);
    const resolve = resolver(path);
    if (path.isChoice) return computed(resolve);
    return computed((frame) => {
      const value = resolve(frame);
      frame.charge(1);
      return value;
    });
  }

  /** The value of a path or any other expression, without a path's own cost unit. */
  private evaluateUncharged(expr: Expr, scope: Scope): Evaluate {
    if (expr.kind === "select" && expr.isTest && expr.constant === undefined) return this.test(expr, scope);
    return this.isPath(expr) ? resolver(this.path(expr, scope)) : this.run(expr, scope);
  }

  private path(expr: Expr, scope: Scope): Path {
    if (expr.kind === "ident") return { start: variable(expr.name, scope), steps: [], isChoice: false };
    if (expr.kind === "select" && expr.variable !== undefined)
      return { start: variable(expr.variable, scope), steps: [], isChoice: false };
    if (expr.kind === "select" && !expr.isTest && expr.constant === undefined)
      return this.extend(expr.operand, scope, constantStep(expr.field, false));
    if (expr.kind === "call") {
      if (expr.name === "_?_:_") return { start: this.choice(expr, scope), steps: [], isChoice: true };
      const [operand, key] = expr.args as [Expr, Expr];
      return this.extend(operand, scope, this.indexStep(key, scope, expr.name !== "_[_]"));
    }
    return { start: this.run(expr, scope), steps: [], isChoice: false };
  }

  private extend(operand: Expr, scope: Scope, step: Step): Path {
    const base: Path = this.isPath(operand)
      ? this.path(operand, scope)
      : { start: this.run(operand, scope), steps: [], isChoice: false };
    return { ...base, steps: [...base.steps, step] };
  }

  private indexStep(key: Expr, scope: Scope, isOptional: boolean): Step {
    const compiled = this.isPath(key) ? undefined : this.compile(key, scope);
    if (compiled?.isConstant) return constantStep(constantOf(compiled), isOptional);
    return computedStep(compiled?.run ?? this.evaluateUncharged(key, scope), isOptional);
  }

  private test(expr: Select, scope: Scope): Evaluate {
    const operand = this.evaluateUncharged(expr.operand, scope);
    const test = testStep(expr.field);
    return (frame) => test(frame, operand(frame));
  }

  private choice(expr: Call, scope: Scope): Evaluate {
    const [condition, yes, no] = expr.args as [Expr, Expr, Expr];
    const [decide, then, otherwise] = [
      this.run(condition, scope),
      this.evaluateUncharged(yes, scope),
      this.evaluateUncharged(no, scope),
    ];
    return (frame) => {
      const decision = decide(frame);
      if (decision === true) return then(frame);
      if (decision === false) return otherwise(frame);
      return decision instanceof CelError ? decision : NO_SUCH_OVERLOAD;
    };
  }

  // ---- Lists, maps, loops ----

  private list(expr: ListExpr, scope: Scope): Compiled {
    const elements = expr.elements.map((element) => this.compile(element, scope));
    if (expr.optionals.size === 0 && elements.every(({ isConstant }) => isConstant))
      return constant(elements.length === 0 ? EMPTY_LIST : new ArrayList(elements.map(constantOf)));
    const runs = elements.map(({ run }) => run);
    const { optionals } = expr;
    return computed((frame) => {
      const items: CelValue[] = [];
      let failure: CelError | undefined;
      for (let index = 0; index < runs.length && !failure; index++) {
        const value = (runs[index] as Evaluate)(frame);
        if (value instanceof CelError) failure = value;
        else if (!optionals.has(index)) items.push(value);
        else if (!(value instanceof CelOptional))
          failure = new CelError(`cannot initialize optional list element from non-optional value ${describe(value)}`);
        else if (value.value !== undefined) items.push(value.value);
      }
      frame.charge(LIST_COST);
      return failure ?? new ArrayList(items);
    });
  }

  private map(expr: MapExpr, scope: Scope): Compiled {
    const entries = expr.entries.map(({ key, value, isOptional }) => ({
      key: this.compile(key, scope),
      value: this.compile(value, scope),
      isOptional,
    }));
    if (entries.every(({ key, value, isOptional }) => key.isConstant && value.isConstant && !isOptional)) {
      const map = new HashMap();
      for (const { key, value } of entries) map.set(constantOf(key), constantOf(value));
      return constant(map);
    }
    return computed((frame) => {
      const map = new HashMap();
      let failure: CelError | undefined;
      for (const { key, value, isOptional } of entries) {
        const at = key.run(frame);
        const of = at instanceof CelError ? at : value.run(frame);
        failure = of instanceof CelError ? of : setEntry(map, at, of, isOptional);
        if (failure) break;
      }
      frame.charge(MAP_COST);
      return failure ?? map;
    });
  }

  private message(expr: StructExpr, scope: Scope): Evaluate {
    const fields = expr.fields.map(({ name, value, isOptional }) => ({
      name,
      isOptional,
      run: this.run(value, scope),
    }));
    const type = expr.name.replace(/^\./, "");
    return (frame) => {
      const message = new MessageValue(type);
      let failure: CelError | undefined;
      for (const { name, isOptional, run } of fields) {
        const value = run(frame);
        failure = value instanceof CelError ? value : setEntry(message, name, value, isOptional);
        if (failure) break;
      }
      frame.charge(MESSAGE_COST);
      return failure ?? message;
    };
  }

  private loop(expr: Comprehension, scope: Scope): Evaluate {
    return compileLoop(expr, scope, this);
  }

  // ---- Calls ----

  private call(expr: Call, scope: Scope): Compiled {
    switch (expr.name) {
      case "_?_:_":
      case "_[_]":
      case "_[?_]":
      case "_?._":
        return this.pathResult(expr, scope);
      case "_&&_":
        return computed(this.logical(expr, scope, false));
      case "_||_":
        return computed(this.logical(expr, scope, true));
      case "_==_":
        return computed(this.equality(expr, scope, (result) => result));
      case "_!=_":
        return computed(this.equality(expr, scope, (result) => !result));
      case "@not_strictly_false":
        return computed(this.notStrictlyFalse(expr, scope));
      case "or":
      case "orValue":
        return computed(this.optionalOr(expr, scope));
      default:
        return this.plainCall(expr, scope);
    }
  }

  /** `decisive` is the value that ends `||` (true) or `&&` (false); an error counts only when no operand decides. */
  private logical(expr: Call, scope: Scope, decisive: boolean): Evaluate {
    const terms = expr.args.map((arg) => this.run(arg, scope));
    return (frame) => {
      let failure: CelError | undefined;
      for (const term of terms) {
        const value = term(frame);
        if (value === decisive) return decisive;
        if (typeof value !== "boolean") failure ??= value instanceof CelError ? value : NO_SUCH_OVERLOAD;
      }
      return failure ?? !decisive;
    };
  }

  private equality(expr: Call, scope: Scope, result: (isEqual: boolean) => boolean): Evaluate {
    const [left, right] = expr.args.map((arg) => this.run(arg, scope)) as [Evaluate, Evaluate];
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      frame.charge(equalityCost(a, b));
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      const isEqual = equal(a, b);
      // An error of `==` makes `!=` true, as in cel-go.
      return typeof isEqual === "boolean" ? result(isEqual) : expr.name === "_!=_" || isEqual;
    };
  }

  private notStrictlyFalse(expr: Call, scope: Scope): Evaluate {
    const operand = this.run(expr.args[0] as Expr, scope);
    return (frame) => {
      const value = operand(frame);
      frame.charge(1);
      return value !== false;
    };
  }

  private optionalOr(expr: Call, scope: Scope): Evaluate {
    const optional = this.run(expr.target as Expr, scope);
    const fallback = this.run(expr.args[0] as Expr, scope);
    const isPlain = expr.name === "orValue";
    return (frame) => {
      const value = optional(frame);
      if (!(value instanceof CelOptional)) return value;
      if (value.value === undefined) return fallback(frame);
      return isPlain ? value.value : value;
    };
  }

  private plainCall(expr: Call, scope: Scope): Compiled {
    const operands = expr.target ? [expr.target, ...expr.args] : expr.args;
    const args = operands.map((operand) => this.compile(operand, scope));
    const overloads = this.overloadsOf(expr);
    const id = overloads.length === 1 ? (overloads[0] as Overload).id : "";
    const members = id === "in_list" && args[1]?.isConstant ? membersOf(constantOf(args[1])) : undefined;
    if (members) return membership((args[0] as Compiled).run, members);
    const hasPattern = this.checkPattern(expr.name, args);
    const call = caller(expr, overloads);
    if (CONVERSIONS.has(expr.name) && args.length === 1 && args[0]?.isConstant) {
      const value = call([constantOf(args[0])]);
      if (value instanceof CelError) throw new InstantiationError(value.message);
      return constant(value);
    }
    return computed(
      charged(
        call,
        args.map(({ run }) => run),
        callCost(expr.name, id),
        hasPattern,
        SEARCHES.has(expr.name),
      ),
    );
  }

  private overloadsOf({ name, overloads = [] }: Call): readonly Overload[] {
    return this.functions.get(name)?.overloads.filter(({ id }) => overloads.includes(id)) ?? [];
  }

  /** A literal pattern is compiled with the expression. Returns whether there is one. */
  private checkPattern(name: string, args: readonly Compiled[]): boolean {
    const pattern = args[1];
    if (!SEARCHES.has(name) || !pattern?.isConstant || typeof pattern.constant !== "string") return false;
    const problem = patternProblem(pattern.constant);
    if (problem) throw new InstantiationError(problem.message);
    return true;
  }
}

/** The elements of a constant list of scalars, for lookups; undefined for other lists. */
function membersOf(list: CelValue): HashMap | undefined {
  const members = new HashMap();
  if (!(list instanceof CelList)) return undefined;
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (!isPlain(item)) return undefined;
    members.set(item, true);
  }
  return members;
}

const isPlain = (value: CelValue): boolean =>
  typeof value !== "object" || value instanceof CelDouble || value instanceof CelUint;

/** `x in [1, 2]`: the list is read once, and a lookup costs nothing. */
function membership(value: Evaluate, members: HashMap): Compiled {
  if (members.size === 0) return constant(false);
  return computed((frame) => {
    const item = value(frame);
    return item instanceof CelError ? item : isPlain(item) && members.find(item) !== undefined;
  });
}

function resolver({ start, steps }: Path): Evaluate {
  if (steps.length === 0) return start;
  const [only] = steps;
  if (steps.length === 1 && only && !only.isOptional) {
    return (frame) => {
      const value = start(frame);
      if (value instanceof CelError) return value;
      return value instanceof CelOptional ? walk(frame, value, steps) : only.read(frame, value);
    };
  }
  return (frame) => {
    const value = start(frame);
    return value instanceof CelError ? value : walk(frame, value, steps);
  };
}

function variable(name: string, scope: Scope): Evaluate {
  const binding = scope.find(name);
  if (!binding) throw new InstantiationError(`no such attribute(s): ${name}`);
  const { slot, lazy } = binding;
  const missing = new CelError(`no such attribute(s): ${name}`);
  if (!lazy) {
    return ({ slots }) => {
      const value = slots[slot];
      return value === undefined ? missing : value;
    };
  }
  return (frame) => {
    let value = frame.slots[slot];
    if (value === undefined) frame.slots[slot] = value = lazy(frame);
    return value;
  };
}

function setEntry(map: HashMap, key: CelValue, value: CelValue, isOptional: boolean): CelError | undefined {
  if (!isOptional) map.set(key, value);
  else if (!(value instanceof CelOptional))
    return new CelError(
      `cannot initialize optional entry '${describe(key)}' from non-optional value ${describe(value)}`,
    );
  else if (value.value === undefined) map.remove(key);
  else map.set(key, value.value);
  return undefined;
}

/** Calls the matching overload. Types that were known when the call was checked are not checked again. */
function caller(expr: Call, overloads: readonly Overload[]): (args: CelValue[]) => CelValue {
  const [first] = overloads;
  const operands = expr.target ? [expr.target, ...expr.args] : expr.args;
  if (
    first &&
    (first.checksItself ||
      (overloads.length === 1 && operands.every((operand, index) => isSettled(operand, first, index))))
  )
    return (args) => first.run(...args);
  return (args) => {
    const fitting = overloads.find(({ args: types }) =>
      types.every((type, index) => accepts(type, args[index] as CelValue)),
    );
    return fitting ? fitting.run(...args) : noSuchOverload(expr.name, args);
  };
}

function isSettled(operand: Expr, overload: Overload, index: number): boolean {
  const wanted = overload.args[index];
  if (wanted?.kind === "parameter" || wanted?.kind === "dyn") return true;
  return operand.type !== undefined && !isDynamic(operand.type);
}

function isDynamic({ kind, parameters }: NonNullable<Expr["type"]>): boolean {
  return kind === "dyn" || kind === "error" || parameters.some(isDynamic);
}

/** Evaluates the arguments, calls, and charges the cost. An error argument is the result. */
function charged(
  call: (args: CelValue[]) => CelValue,
  runs: readonly Evaluate[],
  cost: CallCost | undefined,
  hasPattern: boolean,
  isSearch: boolean,
): Evaluate {
  // Calls with one or two arguments evaluate both and are charged for it; longer ones, and those with a pattern, stop
  // at an error.
  const stopsAtError = hasPattern || runs.length > 2;
  return (frame) => {
    const args: CelValue[] = [];
    let failure: CelError | undefined;
    for (const run of runs) {
      const value = run(frame);
      if (value instanceof CelError) failure ??= value;
      args.push(value);
      if (failure && stopsAtError) return failure;
    }
    const result = failure ?? call(args);
    const price = cost ? cost(args, result) : 1;
    if (isSearch && !failure) frame.chargeSearch(price, takeSearchSteps());
    else frame.charge(price);
    return result;
  };
}
