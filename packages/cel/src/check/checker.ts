/**
 * Assigns every node of a tree its type and finds the candidate overloads of each call. Mismatches are reported in
 * cel-go's wording, and checking continues with a type that fits everything, so that one mistake is reported once.
 */
import {
  type Call,
  type Comprehension,
  type Expr,
  type Ident,
  type ListExpr,
  type MapExpr,
  qualifiedName,
  type Select,
  type StructExpr,
} from "../syntax/ast.ts";
import type { FunctionDeclaration, Overload } from "../types/functions.ts";
import type { Source } from "../syntax/source.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  isDyn,
  isDynOrError,
  isExactly,
  isOptional,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  typeOf,
  UINT,
  unwrapOptional,
} from "../types/types.ts";
import { instantiate, mostGeneral, Unifier } from "../types/unify.ts";
import { CelDouble, CelTypeValue, CelUint, type CelValue } from "../values/values.ts";

/** Names that denote a type, such as `int` in `type(x) == int`. */
export interface TypeName {
  readonly type: CelType;
  readonly value: CelTypeValue;
}

export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly typeNames: ReadonlyMap<string, TypeName>;
  readonly variables: Readonly<Record<string, CelType>>;
  readonly messages?: ((name: string) => CelType | undefined) | undefined;
}

/** Writes types into the tree; the source has errors afterwards when a type does not fit. */
export function check(expr: Expr, source: Source, environment: Environment): void {
  const checker = new Checker(source, environment);
  checker.check(expr);
  checker.finish();
}

class Checker {
  private readonly source: Source;
  private readonly environment: Environment;
  private readonly unifier = new Unifier();
  private readonly checked: Expr[] = [];
  private scopes: ReadonlyMap<string, CelType>[] = [];

  constructor(source: Source, environment: Environment) {
    this.source = source;
    this.environment = environment;
  }

  /** Substitutes type parameters that were resolved after their nodes had been checked. */
  finish(): void {
    for (const expr of this.checked) expr.type = this.unifier.resolve(expr.type ?? DYN, true);
  }

  check(expr: Expr): CelType {
    const type = this.typeOf(expr);
    expr.type = type;
    this.checked.push(expr);
    return type;
  }

  private typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value);
      case "ident":
        return this.ident(expr);
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "struct":
        return this.struct(expr);
      default:
        return this.comprehension(expr);
    }
  }

  private lookup(name: string): CelType | TypeName | undefined {
    // A leading dot denotes the outermost scope.
    const bare = name.startsWith(".") ? name.slice(1) : name;
    for (const scope of this.scopes.toReversed()) {
      const found = scope.get(bare);
      if (found) return found;
    }
    const { variables, typeNames } = this.environment;
    return Object.hasOwn(variables, bare) ? variables[bare] : typeNames.get(bare);
  }

  private ident(expr: Ident): CelType {
    const found = this.lookup(expr.name);
    if (!found) return this.undeclared(expr.offset, expr.name);
    return this.resolved(expr, found);
  }

  private resolved(expr: Ident | Select, found: CelType | TypeName): CelType {
    if ("kind" in found) return found;
    expr.constant = found.value;
    return found.type;
  }

  private undeclared(offset: number, name: string): CelType {
    this.source.report(offset, `undeclared reference to '${name}' (in container '')`);
    return ERROR;
  }

  private select(expr: Select): CelType {
    const name = qualifiedName(expr);
    const found = name === undefined ? undefined : this.lookup(name);
    if (name !== undefined && found && "kind" in found) {
      expr.variable = name;
      return found;
    }
    if (found) return this.resolved(expr, found);
    const type = this.field(expr.offset, expr.operand, expr.field, false);
    return expr.isTest ? BOOL : this.unifier.resolve(type, false);
  }

  private field(offset: number, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = this.unifier.resolve(this.check(operand), false);
    const target = unwrapOptional(operandType);
    const type = this.fieldOf(offset, target, field);
    return isOptional(operandType) || optional ? optionalOf(type) : type;
  }

  private fieldOf(offset: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case "map":
        return target.parameters[1] ?? DYN;
      case "struct": {
        const type = target.hasAnyField ? DYN : target.fields?.get(field);
        if (type) return type;
        this.source.report(
          offset,
          target.fields ? `undefined field '${field}'` : `unexpected failed resolution of '${target.name}'`,
        );
        return ERROR;
      }
      case "parameter":
        this.unifier.assign(DYN, target);
        return DYN;
      default:
        if (!isDynOrError(target))
          this.source.report(offset, `type '${formatType(target)}' does not support field selection`);
        return DYN;
    }
  }

  private call(expr: Call): CelType {
    if (expr.name === "_?._") {
      const [operand, field] = expr.args as [Expr, Expr];
      expr.overloads = ["select_optional_field"];
      field.type = STRING;
      const name = field.kind === "literal" && typeof field.value === "string" ? field.value : "";
      return this.unifier.resolve(this.field(expr.offset, operand, name, true), false);
    }
    for (const arg of expr.args) this.check(arg);
    const found = this.findFunction(expr);
    if (!found) return this.undeclared(expr.offset, expr.name);
    expr.name = found.name;
    return this.resolveOverloads(expr, found);
  }

  private findFunction(expr: Call): FunctionDeclaration | undefined {
    const { functions } = this.environment;
    const { target, name } = expr;
    if (!target) return functions.get(name.startsWith(".") ? name.slice(1) : name);
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : functions.get(`${prefix}.${name}`.replace(/^\./, ""));
    if (qualified) {
      expr.target = undefined;
      return qualified;
    }
    this.check(target);
    return functions.get(name);
  }

  private resolveOverloads(expr: Call, { name, overloads }: FunctionDeclaration): CelType {
    if (name === "_&&_" || name === "_||_") return this.logical(expr, overloads[0] as Overload);
    const operands = expr.target ? [expr.target, ...expr.args] : expr.args;
    const types = operands.map((operand) => operand.type ?? ERROR);
    const fitting: string[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== (expr.target !== undefined)) continue;
      const { args, result: declared } = this.fresh(overload);
      if (!this.unifier.assignAll(types, args)) continue;
      fitting.push(overload.id);
      const type = this.unifier.resolve(declared, false);
      if (!result) result = type;
      else if (!isDyn(result) && !isExactly(type, result)) result = DYN;
    }
    if (!result) {
      this.noMatch(expr, name, types);
      return ERROR;
    }
    expr.overloads = fitting;
    return result;
  }

  private noMatch(expr: Call, name: string, types: readonly CelType[]): void {
    const shown = types.map((type) => formatType(this.unifier.resolve(type, true)));
    const signature = expr.target ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
    this.source.report(expr.offset, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  private logical(expr: Call, overload: Overload): CelType {
    expr.overloads = [overload.id];
    let isFine = true;
    for (const arg of expr.args) {
      if (this.unifier.assign(arg.type ?? ERROR, BOOL)) continue;
      this.mismatch(arg, BOOL, arg.type ?? ERROR);
      isFine = false;
    }
    return isFine ? BOOL : ERROR;
  }

  /** The overload with fresh type parameters for this call. */
  private fresh({ args, result, parameters }: Overload): Pick<Overload, "args" | "result"> {
    if (parameters.length === 0) return { args, result };
    const substitutions = new Map(parameters.map((name) => [name, this.unifier.newParameter()]));
    return { args: args.map((type) => instantiate(type, substitutions)), result: instantiate(result, substitutions) };
  }

  private mismatch({ offset }: Expr, expected: CelType, actual: CelType): void {
    this.source.report(offset, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  private list(expr: ListExpr): CelType {
    let joined: CelType | undefined;
    for (const [index, element] of expr.elements.entries()) {
      const type = this.check(element);
      joined = this.join(joined, expr.optionals.has(index) ? this.unwrapped(element, type) : type);
    }
    return listOf(joined ?? this.unifier.newParameter());
  }

  private map(expr: MapExpr): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, isOptional: optional } of expr.entries) {
      keys = this.join(keys, this.check(key));
      const type = this.check(value);
      values = this.join(values, optional ? this.unwrapped(value, type) : type);
    }
    return mapOf(keys ?? this.unifier.newParameter(), values ?? this.unifier.newParameter());
  }

  /** The type inside an optional element, which must be an optional. */
  private unwrapped(expr: Expr, type: CelType): CelType {
    if (!isOptional(type) && !isDyn(type)) this.mismatch(expr, optionalOf(type), type);
    return unwrapOptional(type);
  }

  /** The type of elements of both types. Mixed elements are detected later, because a format's arguments may differ. */
  private join(previous: CelType | undefined, current: CelType): CelType {
    if (!previous) return current;
    return this.unifier.assign(previous, current) ? mostGeneral(previous, current) : DYN;
  }

  private struct(expr: StructExpr): CelType {
    const message = this.environment.messages?.(expr.name.replace(/^\./, ""));
    return message ? this.message(expr, message) : this.unknownStruct(expr);
  }

  private message(expr: StructExpr, type: CelType): CelType {
    for (const { name, value, isOptional: optional, offset } of expr.fields) {
      const expected = this.fieldOf(offset, type, name);
      const checked = this.check(value);
      const actual = optional ? this.unwrapped(value, checked) : checked;
      if (!this.unifier.assign(actual, expected))
        this.source.report(
          offset,
          `expected type of field '${name}' is '${formatType(expected)}' but provided type is '${formatType(actual)}'`,
        );
    }
    return type;
  }

  private unknownStruct(expr: StructExpr): CelType {
    const found = this.lookup(expr.name);
    if (!found) return this.undeclared(expr.offset, expr.name);
    // No type that rules can name has settable fields.
    for (const { name, value, offset } of expr.fields) {
      this.check(value);
      this.source.report(
        offset,
        "kind" in found ? `unexpected failed resolution of '${expr.name}'` : `undefined field '${name}'`,
      );
    }
    this.source.report(
      expr.offset,
      "kind" in found ? `'${found.name}' is not a type` : `'${found.value.name}' is not a message type`,
    );
    return ERROR;
  }

  private comprehension(expr: Comprehension): CelType {
    const range = this.check(expr.range);
    const accumulator = this.check(expr.init);
    const variables = this.variablesOf(expr, this.unifier.resolve(range, false));
    this.scopes.push(new Map([[expr.accumulator, accumulator]]));
    this.scopes.push(variables);
    this.expectType(expr.condition, this.check(expr.condition), BOOL);
    this.expectType(expr.step, this.check(expr.step), accumulator);
    this.scopes.pop();
    const result = this.check(expr.result);
    this.scopes.pop();
    return this.unifier.resolve(result, false);
  }

  private expectType(expr: Expr, actual: CelType, expected: CelType): void {
    if (!this.unifier.assign(expected, actual)) this.mismatch(expr, expected, actual);
  }

  private variablesOf({ range, variable, variable2 }: Comprehension, type: CelType): Map<string, CelType> {
    const of = (one: CelType, two: [CelType, CelType]): Map<string, CelType> =>
      variable2 === undefined
        ? new Map([[variable, one]])
        : new Map([
            [variable, two[0]],
            [variable2, two[1]],
          ]);
    switch (type.kind) {
      case "list": {
        const [element = DYN] = type.parameters;
        return of(element, [INT, element]);
      }
      case "map": {
        const [key = DYN, value = DYN] = type.parameters;
        return of(key, [key, value]);
      }
      case "dyn":
      case "error":
      case "parameter":
        this.unifier.assign(DYN, type);
        return of(DYN, [DYN, DYN]);
      default:
        this.source.report(
          range.offset,
          `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return of(ERROR, [ERROR, ERROR]);
    }
  }
}

function literalType(value: CelValue): CelType {
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "number":
    case "bigint":
      return INT;
    case "string":
      return STRING;
    default:
      if (value === null) return NULL;
      if (value instanceof CelDouble) return DOUBLE;
      return value instanceof CelUint ? UINT : BYTES;
  }
}

/** A name that denotes a type. */
export const typeName = (name: string, type: CelType): [string, TypeName] => [
  name,
  { type: typeOf(type), value: new CelTypeValue(name) },
];
