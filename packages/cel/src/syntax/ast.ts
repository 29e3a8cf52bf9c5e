/**
 * The expression tree. The parser builds it, macros included; the checker writes each node's type and the candidate
 * overloads of each call; cost estimation and compilation read both.
 */
import type { CelType } from "../types/types.ts";
import type { CelValue } from "../values/values.ts";

interface Node {
  /** The position reported for the node: code points from the start of the expression. */
  readonly offset: number;
  /** Written by the checker. */
  type?: CelType;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: CelValue;
}
export interface Ident extends Node {
  readonly kind: "ident";
  readonly name: string;
  /** The value of a name that denotes a type. */
  constant?: CelValue;
}
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly isTest: boolean;
  /** The qualified name `a.b` of a type, and its value. */
  constant?: CelValue;
  /** The variable with the qualified name `a.b`, where there is one. */
  variable?: string;
}
export interface Call extends Node {
  readonly kind: "call";
  /** The checker replaces `a.b(…)` by the function `a.b` where there is one. */
  name: string;
  target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Overloads that match the arguments' types; several when a type is dynamic. */
  overloads?: readonly string[];
}
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  /** Indexes of elements that are omitted when they have no value: `[?a]`. */
  readonly optionals: ReadonlySet<number>;
}
export interface MapEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly isOptional: boolean;
}
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}
export interface StructField {
  readonly name: string;
  readonly value: Expr;
  readonly isOptional: boolean;
  readonly offset: number;
}
export interface StructExpr extends Node {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly StructField[];
}
/** The expansion of macros: a loop over a list or a map that folds into an accumulator. */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expr;
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension;

/** The accumulator of the standard macros. */
export const ACCUMULATOR = "@result";

/** `a.b.c` of identifiers, or undefined. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.isTest) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/** The direct children of an expression. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target ? [expr.target, ...expr.args] : expr.args;
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "comprehension":
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

/** A copy of the tree, for a macro that uses an argument twice. */
export function copyExpr(expr: Expr): Expr {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return { ...expr };
    case "select":
      return { ...expr, operand: copyExpr(expr.operand) };
    case "call":
      return { ...expr, target: expr.target && copyExpr(expr.target), args: expr.args.map(copyExpr) };
    case "list":
      return { ...expr, elements: expr.elements.map(copyExpr) };
    case "map":
      return {
        ...expr,
        entries: expr.entries.map((entry) => ({ ...entry, key: copyExpr(entry.key), value: copyExpr(entry.value) })),
      };
    case "struct":
      return { ...expr, fields: expr.fields.map((field) => ({ ...field, value: copyExpr(field.value) })) };
    default:
      return {
        ...expr,
        range: copyExpr(expr.range),
        init: copyExpr(expr.init),
        condition: copyExpr(expr.condition),
        step: copyExpr(expr.step),
        result: copyExpr(expr.result),
      };
  }
}
