/**
 * Generates JavaScript for expressions. A function is an expression made of statements, so it is written by the
 * statement generator, which documents the names in the generated code.
 */
import type { Expression, ExpressionOf, FunctionBody, Variable } from "./ast.ts";
import type { Site } from "./call-state.ts";
import { LuaSyntaxError } from "./errors.ts";

/** Deeper trees would exhaust the stack of any tree walker, including the JavaScript parser. */
const MAX_DEPTH = 400;
const PROTOTYPE_NAMES = new Set(Object.getOwnPropertyNames(Object.prototype));
const ARITHMETIC = new Map([
  ["+", "add"],
  ["-", "sub"],
  ["*", "mul"],
  ["/", "div"],
  ["%", "mod"],
  ["^", "pow"],
]);
const PLAIN_KEY = /^[A-Za-z_]\w*$/;

export abstract class ExpressionGenerator {
  readonly #name: string;
  /** Globals are a table. */
  protected readonly isReflective: boolean;
  protected readonly sites: Site[] = [{ line: 0, name: "?" }];
  readonly #siteIds = new Map<string, number>();
  #depth = 0;
  /** Temporaries in use, and the maximum in the current function. */
  protected inUse = 0;
  protected mostUsed = 0;

  constructor(name: string, isReflective: boolean) {
    this.#name = name;
    this.isReflective = isReflective;
  }

  /** A function value, which is charged for. */
  protected abstract closure(body: FunctionBody): string;

  // Sites, depth and temporaries.

  protected site(line: number, name = "?"): number {
    const key = `${line} ${name}`;
    let id = this.#siteIds.get(key);
    if (id === undefined) {
      id = this.sites.push({ line, name }) - 1;
      this.#siteIds.set(key, id);
    }
    return id;
  }

  protected deeper<T>(write: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new LuaSyntaxError(`${this.#name}: the script is nested too deeply`);
    const result = write();
    this.#depth -= 1;
    return result;
  }

  /** Generates code with a temporary of its own. */
  protected withValue<T>(write: (value: string) => T): T {
    const value = `x${this.inUse++}`;
    this.mostUsed = Math.max(this.mostUsed, this.inUse);
    const written = write(value);
    this.inUse -= 1;
    return written;
  }

  // Expressions.

  /** A list of all values; the last expression may yield several. */
  protected list(values: readonly Expression[]): string {
    return `[${this.#arguments(values)}]`;
  }

  #arguments(values: readonly Expression[]): string {
    return values
      .map((value, index) =>
        index === values.length - 1 && isSeveral(value) ? `...S.all(${this.several(value)})` : this.one(value),
      )
      .join(",");
  }

  /** An expression that may yield none or several values, as a result list. */
  protected several(expression: Expression | undefined): string {
    if (expression === undefined) return "N";
    return expression.kind === "vararg" ? "V" : this.call(expression);
  }

  /** A JavaScript boolean. */
  protected condition(expression: Expression): string {
    switch (expression.kind) {
      case "nil":
      case "false":
        return "false";
      case "true":
      case "number":
      case "string":
      case "function":
      case "table":
        return expression.kind === "function" || expression.kind === "table"
          ? `(${this.one(expression)},true)`
          : "true";
      case "unary":
        if (expression.operator === "not") return `!${this.deeper(() => this.condition(expression.operand))}`;
        break;
      case "binary":
        if (expression.operator === "and" || expression.operator === "or") {
          const { left, right, operator } = expression;
          return this.deeper(
            () => `(${this.condition(left)}${operator === "and" ? "&&" : "||"}${this.condition(right)})`,
          );
        }
        if (isComparison(expression.operator)) return this.one(expression);
        break;
      case "local": {
        const name = nameOf(expression.variable);
        return `(${name}!==undefined&&${name}!==false)`;
      }
      default:
    }
    return `((t=${this.one(expression)})!==undefined&&t!==false)`;
  }

  protected one(expression: Expression): string {
    return this.deeper(() => this.#oneOf(expression));
  }

  #oneOf(expression: Expression): string {
    const { line } = expression;
    switch (expression.kind) {
      case "nil":
        return "undefined";
      case "true":
      case "false":
        return expression.kind;
      case "vararg":
        return "V[0]";
      case "number":
        return Number.isNaN(expression.value)
          ? "NaN"
          : expression.value === Infinity
            ? "Infinity"
            : String(expression.value);
      case "string":
        return JSON.stringify(expression.value);
      case "function":
        return this.closure(expression.body);
      case "local":
        return nameOf(expression.variable);
      case "global":
        return this.isReflective ? `G_.getString(${JSON.stringify(expression.name)})` : `g_${expression.name}`;
      case "index":
        return this.#index(expression);
      case "call":
      case "method":
        return `(Array.isArray(r=${this.call(expression)})?S.first(r):r)`;
      case "table":
        return this.#table(expression);
      case "first":
        return this.one(expression.of);
      case "unary":
        if (expression.operator === "not") return `!${this.condition(expression.operand)}`;
        if (expression.operator === "-" && expression.operand.kind === "number")
          return `(-${this.one(expression.operand)})`;
        return `S.${expression.operator === "-" ? "negate" : "length"}(${this.one(expression.operand)},${this.site(line)})`;
      default:
        return this.#binary(expression);
    }
  }

  #index({ object, key, line }: ExpressionOf<"index">): string {
    const site = this.site(line);
    if (key.kind !== "string" || !isFastKey(key.value)) return `S.get(${this.one(object)},${this.one(key)},${site})`;
    const name = key.value;
    return `(typeof(v=(t=${this.one(object)})instanceof T?t.h.${name}:S.get(t,"${name}",${site}))==="object"||v===undefined?S.read(t,"${name}",v):v)`;
  }

  /** The code before a call, and its arguments. The site is set last, because the arguments may contain calls. */
  protected callParts(call: ExpressionOf<"call" | "method">, callee: string): { setup: string; args: string } {
    const name = call.kind === "method" ? call.name : calleeName(call.callee);
    const site = this.site(call.line, name);
    const note = `S.l[S.d]=${site}`;
    if (call.kind === "call") {
      const setup = `typeof(${callee}=${this.one(call.callee)})==="function"||(${callee}=S.nc)`;
      return this.#withNote(setup, "", call.args, note);
    }
    return this.withValue((receiver) => {
      const setup =
        `${receiver}=${this.one(call.receiver)},typeof(${callee}=S.method(${receiver},` +
        `${JSON.stringify(call.name)},${site}))==="function"||(${callee}=S.nc)`;
      return this.#withNote(setup, receiver, call.args, note);
    });
  }

  #withNote(
    setup: string,
    receiver: string,
    args: readonly Expression[],
    note: string,
  ): { setup: string; args: string } {
    const first = receiver === "" ? [] : [receiver];
    if (!args.some(mayCall))
      return {
        setup: `${setup},${note}`,
        args: [...first, ...(args.length > 0 ? [this.#arguments(args)] : [])].join(","),
      };
    const before = args.slice(0, -1).map((value) => this.one(value));
    const last = this.withValue((value) => {
      const expression = args.at(-1);
      if (expression === undefined) return note;
      return isSeveral(expression)
        ? `...(${value}=S.all(${this.several(expression)}),${note},${value})`
        : `(${value}=${this.one(expression)},${note},${value})`;
    });
    return { setup, args: [...first, ...before, last].join(",") };
  }

  protected call(expression: Expression): string {
    if (expression.kind !== "call" && expression.kind !== "method") return this.one(expression);
    return this.deeper(() =>
      this.withValue((callee) => {
        const { setup, args } = this.callParts(expression, callee);
        return `(${setup},${callee}(${args}))`;
      }),
    );
  }

  #table({ fields, line }: ExpressionOf<"table">): string {
    const site = this.site(line);
    const positions = fields.filter((field) => field.key === undefined);
    if (positions.length === fields.length)
      return fields.length === 0 ? "S.newTable()" : `S.list(${this.list(fields.map((field) => field.value))})`;
    const names = fields.map((field) =>
      field.key?.kind === "string" && isFastKey(field.key.value) ? field.key.value : undefined,
    );
    const isRecord = names.every((name) => name !== undefined) && new Set(names).size === names.length;
    if (isRecord && fields.every((field) => isNeverNil(field.value))) {
      return `S.fields({${fields.map((field, index) => `${names[index]}:${this.one(field.value)}`).join(",")}},${fields.length})`;
    }
    return this.withValue((table) => {
      let position = 0;
      const parts = fields.map((field, index) => {
        if (field.key !== undefined) return `S.set(${table},${this.one(field.key)},${this.one(field.value)},${site})`;
        position += 1;
        if (index === fields.length - 1 && isSeveral(field.value))
          return `S.append(${table},${position},S.all(${this.several(field.value)}))`;
        return `S.set(${table},${position},${this.one(field.value)},${site})`;
      });
      return `(${table}=S.newTable(),${parts.join(",")},${table})`;
    });
  }

  #binary(expression: ExpressionOf<"binary">): string {
    const { operator, left, right, line } = expression;
    switch (operator) {
      case "and":
      case "or":
        return this.withValue((value) => {
          const isDecided =
            operator === "and" ? `${value}===undefined||${value}===false` : `${value}!==undefined&&${value}!==false`;
          return `((${value}=${this.one(left)},${isDecided})?${value}:${this.one(right)})`;
        });
      case "==":
      case "~=":
        if (isWrittenOut(left) || isWrittenOut(right))
          return `(${this.one(left)}${operator === "==" ? "===" : "!=="}${this.one(right)})`;
        return `${operator === "==" ? "" : "!"}S.same(${this.one(left)},${this.one(right)})`;
      case "..":
        return `S.concat(${this.one(left)},${this.one(right)},${this.site(line)})`;
      default:
        return this.#numeric(operator, left, right, line);
    }
  }

  #numeric(operator: string, left: Expression, right: Expression, line: number): string {
    const site = this.site(line);
    return this.withValue((a) =>
      this.withValue((b) => {
        const setup: string[] = [];
        const checks: string[] = [];
        const place = (expression: Expression, value: string): string => {
          if (expression.kind === "number") return this.one(expression).replace(/^-.*/, "($&)");
          setup.push(`${value}=${this.one(expression)}`);
          checks.push(`typeof ${value}==="number"`);
          return value;
        };
        const x = place(left, a);
        const y = place(right, b);
        const fast =
          operator === "%" ? `S.mod(${x},${y})` : operator === "^" ? `S.power(${x},${y})` : `${x}${operator}${y}`;
        if (checks.length === 0) return `(${fast})`;
        const slow =
          operator === "<"
            ? `S.less(${x},${y},${site})`
            : operator === ">"
              ? `S.less(${y},${x},${site})`
              : operator === "<="
                ? `S.lessEqual(${x},${y},${site})`
                : operator === ">="
                  ? `S.lessEqual(${y},${x},${site})`
                  : `S.arith("${ARITHMETIC.get(operator)}",${x},${y},${site})`;
        return `(${setup.join(",")},${checks.join("&&")}?${fast}:${slow})`;
      }),
    );
  }
}

export const nameOf = (variable: Variable): string => `s${variable.id}`;
const isComparison = (operator: string): boolean => ["==", "~=", "<", "<=", ">", ">="].includes(operator);
export const isSeveral = (expression: Expression | undefined): boolean =>
  expression?.kind === "call" || expression?.kind === "method" || expression?.kind === "vararg";
/** A name that no object has by default and that keeps its insertion order. */
export const isFastKey = (key: string): boolean => PLAIN_KEY.test(key) && !PROTOTYPE_NAMES.has(key);
/** Comparison with a literal is fast, however long the other side is. */
const isWrittenOut = (expression: Expression): boolean =>
  ["nil", "true", "false", "number", "string"].includes(expression.kind);
const isNeverNil = (expression: Expression): boolean =>
  ["true", "false", "number", "string", "function", "table"].includes(expression.kind) ||
  (expression.kind === "binary" && expression.operator !== "and" && expression.operator !== "or") ||
  expression.kind === "unary";

/** The name of the called function in upstream's messages. */
function calleeName(callee: Expression): string {
  if (callee.kind === "global") return callee.name;
  if (callee.kind === "local") return callee.variable.name;
  if (callee.kind === "index" && callee.key.kind === "string") return callee.key.value;
  return "?";
}

/** Whether evaluating it may call a function, which would set its own site. */
function mayCall(expression: Expression): boolean {
  switch (expression.kind) {
    case "nil":
    case "true":
    case "false":
    case "number":
    case "string":
    case "vararg":
    case "local":
    case "global":
    case "function":
      return false;
    case "index":
      return mayCall(expression.object) || mayCall(expression.key);
    case "first":
      return mayCall(expression.of);
    default:
      return true;
  }
}
