/**
 * The maximum cost of an expression, estimated before it runs. A CRD whose rules could cost too much is rejected when
 * it is written, so the estimate must match that of Kubernetes, oddities included: sizes follow paths through the
 * variable's type, a comprehension multiplies by the size of its range, and a size without a known bound counts as
 * infinite.
 */
import {
  ACCUMULATOR,
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  type Select,
} from "../syntax/ast.ts";
import { callEstimate } from "./call-estimates.ts";
import { LIST_COST, MAP_COST, MESSAGE_COST, TEXT_FACTOR } from "./runtime-cost.ts";
import { exactly, MAX, NOTHING, plus, type Range, range, scaled, times, total, union, UNKNOWN } from "./size-range.ts";
import { type CelType, isOptional } from "../types/types.ts";
import { lengthOf } from "../values/values.ts";

/** A node as the estimates use it. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: CelType;
  readonly path: readonly string[] | undefined;
  /** Its size, as far as known without the schema. */
  readonly size: Range | undefined;
}

interface EntrySize {
  readonly kind: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entry: EntrySize | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

export function estimateCost(expr: Expr, variables: Readonly<Record<string, CelType>>): Range {
  return new Estimator(variables).cost(expr);
}

const ONE = exactly(1);

export class Estimator {
  private readonly variables: Readonly<Record<string, CelType>>;
  private readonly root: CelType | undefined;
  private readonly paths = new Map<Expr, readonly string[]>();
  private readonly sizes = new Map<Expr, Range>();
  private readonly entries = new Map<Expr, EntrySize>();
  private readonly locals = new Map<string, Local[]>();

  constructor(variables: Readonly<Record<string, CelType>>) {
    this.variables = variables;
    [this.root] = Object.values(variables);
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
        return NOTHING;
      case "ident":
        this.paths.set(expr, this.local(expr.name)?.path ?? [expr.name]);
        return ONE;
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "struct":
        return plus(total(expr.fields.map(({ value }) => this.cost(value))), exactly(MESSAGE_COST));
      default:
        return isBinding(expr) ? this.binding(expr) : this.comprehension(expr);
    }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }

  private push(name: string, local: Local): void {
    const stack = this.locals.get(name);
    if (stack) stack.push(local);
    else this.locals.set(name, [local]);
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  private pathOf(expr: Expr): readonly string[] {
    return (expr.kind === "ident" ? this.local(expr.name)?.path : undefined) ?? this.paths.get(expr) ?? [];
  }

  private select(expr: Select): Range {
    if (expr.constant !== undefined) {
      this.paths.set(expr, [expr.field]);
      return ONE;
    }
    if (expr.variable !== undefined) {
      this.paths.set(expr, [expr.variable]);
      return ONE;
    }
    const operand = this.cost(expr.operand);
    if (expr.isTest) return operand;
    this.paths.set(expr, [...this.pathOf(expr.operand), expr.field]);
    const kind = expr.operand.type?.kind;
    return kind === "map" || kind === "struct" || kind === "parameter" ? plus(operand, ONE) : operand;
  }

  private list(expr: ListExpr): Range {
    let cost = NOTHING;
    let item: Range = expr.elements.length === 0 ? NOTHING : { min: MAX, max: 0 };
    for (const element of expr.elements) {
      cost = plus(cost, this.cost(element));
      item = union(item, this.sizeOf(element) ?? UNKNOWN);
    }
    this.entries.set(expr, { kind: "list", key: ONE, value: item });
    return plus(cost, exactly(LIST_COST));
  }

  private map(expr: MapExpr): Range {
    let cost = NOTHING;
    let [keys, values]: [Range, Range] =
      expr.entries.length === 0
        ? [NOTHING, NOTHING]
        : [
            { min: MAX, max: 0 },
            { min: MAX, max: 0 },
          ];
    for (const { key, value } of expr.entries) {
      cost = total([cost, this.cost(key), this.cost(value)]);
      keys = union(keys, this.sizeOf(key) ?? UNKNOWN);
      values = union(values, this.sizeOf(value) ?? UNKNOWN);
    }
    this.entries.set(expr, { kind: "map", key: keys, value: values });
    return plus(cost, exactly(MAP_COST));
  }

  // ---- Loops ----

  private comprehension(expr: Comprehension): Range {
    const start = plus(this.cost(expr.range), this.cost(expr.init));
    this.push(expr.accumulator, {
      path: this.pathOf(expr.init),
      size: this.sizeOf(expr.init),
      entry: this.entryOf(expr.init),
    });
    this.pushVariables(expr);
    const each = plus(this.cost(expr.condition), this.cost(expr.step));
    this.pop(expr.variable);
    if (expr.variable2 !== undefined) this.pop(expr.variable2);
    const result = this.cost(expr.result);
    this.pop(expr.accumulator);
    const count = this.sizeOf(expr.range) ?? UNKNOWN;
    this.keepLoopSize(expr, count);
    return total([start, result, times(count, each)]);
  }

  /**
   * A collecting loop has as many elements as its range; a counting or deciding loop has the size of its initial value.
   */
  private keepLoopSize(expr: Comprehension, count: Range): void {
    if (expr.init.kind === "literal") {
      const size = this.sizeOf(expr.init);
      if (size) this.sizes.set(expr, size);
    } else if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.sizes.set(expr, count);
      const entry = this.entryOf(expr.step);
      if (entry) this.entries.set(expr, entry);
    }
  }

  private pushVariables({ range: over, variable, variable2 }: Comprehension): void {
    const entry = this.entryOf(over);
    const isList = (entry?.kind ?? over.type?.kind) === "list";
    const path = this.pathOf(over);
    const key: Local = { path: [...path, isList ? "@indices" : "@keys"], size: entry?.key, entry: undefined };
    const value: Local = { path: [...path, isList ? "@items" : "@values"], size: entry?.value, entry: undefined };
    if (variable2 === undefined) this.push(variable, isList ? value : { ...key, path: [...path, "@keys"] });
    else {
      this.push(variable, key);
      this.push(variable2, value);
    }
  }

  private binding(expr: Comprehension): Range {
    const start = plus(this.cost(expr.range), this.cost(expr.init));
    this.push(expr.accumulator, {
      path: this.pathOf(expr.init),
      size: this.sizeOf(expr.init),
      entry: this.entryOf(expr.init),
    });
    const result = this.cost(expr.result);
    // Evaluated while the name is still bound to the value.
    const [size, entry] = [this.sizeOf(expr.result), this.entryOf(expr.result)];
    this.pop(expr.accumulator);
    if (size) this.sizes.set(expr, size);
    if (entry) this.entries.set(expr, entry);
    return plus(start, result);
  }

  // ---- Calls ----

  private call(expr: Call): Range {
    if (expr.name === "dyn") return this.dynamic(expr);
    const args = expr.args.map((arg) => ({ cost: this.cost(arg), node: this.node(arg) }));
    const target = expr.target && { cost: this.cost(expr.target), node: this.node(expr.target) };
    let cost: Range = { min: MAX, max: 0 };
    let size: Range | undefined;
    for (const overload of expr.overloads ?? []) {
      const estimate = this.overload(expr, overload, target?.node, args);
      cost = union(cost, estimate.cost);
      if (estimate.size) size = size ? union(size, estimate.size) : estimate.size;
      size = this.indexed(expr, overload, size);
      size ??= this.sizeOf(expr);
    }
    if (size) this.sizes.set(expr, size);
    return target ? plus(target.cost, cost) : cost;
  }

  /** An index continues the path of its operand. */
  private indexed(expr: Call, overload: string, size: Range | undefined): Range | undefined {
    const [operand] = expr.args;
    if (!operand || (overload !== "index_list" && overload !== "index_map")) return size;
    this.paths.set(expr, [...this.pathOf(operand), overload === "index_list" ? "@items" : "@values"]);
    return this.entryOf(operand)?.value;
  }

  private dynamic(expr: Call): Range {
    const [argument] = expr.args as [Expr];
    const cost = plus(this.cost(argument), ONE);
    const [size, entry] = [this.sizeOf(argument), this.entryOf(argument)];
    if (size) this.sizes.set(expr, size);
    if (entry) this.entries.set(expr, entry);
    return cost;
  }

  private overload(
    expr: Call,
    overload: string,
    target: CostNode | undefined,
    args: readonly { cost: Range; node: CostNode }[],
  ): CallEstimate {
    const nodes = args.map(({ node }) => node);
    const argumentCost = total(args.map(({ cost }) => cost));
    const estimate = callEstimate(expr.name, overload, target, nodes, this) ?? this.builtIn(expr, overload, args);
    return { cost: estimate.isComplete ? estimate.cost : plus(estimate.cost, argumentCost), size: estimate.size };
  }

  /** Operators whose cost or size follows from their operands. */
  private builtIn(
    expr: Call,
    overload: string,
    args: readonly { cost: Range; node: CostNode }[],
  ): CallEstimate & { isComplete?: boolean } {
    const [first, second, third] = args;
    const sizes = args.map(({ node }) => node.size ?? UNKNOWN);
    const [a = UNKNOWN, b = UNKNOWN, c = UNKNOWN] = sizes;
    switch (overload) {
      case "logical_or":
      case "logical_and":
        return { cost: range(first?.cost.min ?? 0, total(args.map(({ cost }) => cost)).max), isComplete: true };
      case "conditional": {
        this.keepUnion(expr, second?.node.expr, third?.node.expr);
        return {
          cost: plus(first?.cost ?? NOTHING, union(second?.cost ?? NOTHING, third?.cost ?? NOTHING)),
          size: union(b, c),
          isComplete: true,
        };
      }
      case "add_string":
      case "add_bytes":
      case "add_list":
        this.keepUnion(expr, first?.node.expr, second?.node.expr);
        return { cost: overload === "add_list" ? ONE : scaled(plus(a, b), TEXT_FACTOR), size: plus(a, b) };
      case "in_list":
        return { cost: b };
      default: {
        if (
          overload !== "equals" &&
          overload !== "not_equals" &&
          !/^(less|greater)(_equals)?_(string|bytes)$/.test(overload)
        )
          return { cost: ONE };
        const most = Math.min(a.max, b.max);
        return { cost: scaled(range(most > 0 ? 1 : 0, most), TEXT_FACTOR) };
      }
    }
  }

  private keepUnion(expr: Expr, left: Expr | undefined, right: Expr | undefined): void {
    const [a, b] = [left && this.entryOf(left), right && this.entryOf(right)];
    if (a && b) this.entries.set(expr, { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  // ---- Sizes ----

  private node(expr: Expr): CostNode {
    const path = this.pathOf(expr);
    return {
      expr,
      type: expr.type as CelType,
      path: path.length === 0 || path[0] === ACCUMULATOR ? undefined : path,
      size: this.sizeOf(expr),
    };
  }

  private entryOf(expr: Expr): EntrySize | undefined {
    return this.entries.get(expr) ?? (expr.kind === "ident" ? this.local(expr.name)?.entry : undefined);
  }

  private sizeOf(expr: Expr): Range | undefined {
    const known = this.sizes.get(expr) ?? writtenSize(expr);
    if (known) return known;
    const declared = this.declaredSize(this.pathOf(expr));
    if (declared) {
      this.sizes.set(expr, declared);
      return declared;
    }
    if (expr.type && isScalar(expr.type)) return ONE;
    return expr.kind === "ident" ? this.local(expr.name)?.size : undefined;
  }

  /** The size from the variables' types. A path that starts in no variable uses the first one, as upstream does. */
  declaredSize(path: readonly string[]): Range | undefined {
    const [start, ...steps] = path;
    if (start === undefined) return undefined;
    let type: CelType | undefined = Object.hasOwn(this.variables, start) ? this.variables[start] : this.root;
    for (const step of steps) {
      if (step === "@items")
        type = type?.kind === "list" ? type.parameters[0] : type?.kind === "map" ? type.parameters[1] : undefined;
      else if (step === "@values")
        type = type?.kind === "map" ? type.parameters[1] : type?.kind === "list" ? type.parameters[0] : undefined;
      else if (step === "@keys") type = type?.kind === "map" ? type.parameters[0] : undefined;
      // Entries of an attribute map can be read like fields, and all have the same type.
      else
        type =
          type?.kind === "map" && type.parameters[1]?.kind === "dyn" ? type.parameters[1] : type?.fields?.get(step);
      if (!type) return undefined;
    }
    return type && range(0, type.maxElements ?? 0);
  }
}

const isBinding = ({ range: over, condition, accumulator }: Comprehension): boolean =>
  over.kind === "list" &&
  over.elements.length === 0 &&
  condition.kind === "literal" &&
  condition.value === false &&
  accumulator !== "__result__";

/** The size of a literal. */
function writtenSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case "literal":
      if (typeof expr.value === "string") return exactly(lengthOf(expr.value));
      return exactly(expr.value instanceof Uint8Array ? expr.value.length : 1);
    case "list":
      return exactly(expr.elements.length);
    case "map":
      return exactly(expr.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.parameters[0] as CelType);
  return (
    type.kind === "bool" ||
    type.kind === "int" ||
    type.kind === "uint" ||
    type.kind === "double" ||
    type.kind === "timestamp" ||
    type.kind === "duration"
  );
}
