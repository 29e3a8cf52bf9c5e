/**
 * Parses tokens and expressions. A function is an expression made of statements, so its body is left to the statement
 * parser.
 */
import type { BinaryOperator, Expression, FunctionBody, Target } from "./ast.ts";
import type { LuaSyntaxError } from "./errors.ts";
import { Lexer } from "./lexer.ts";
import type { Token } from "./lexer.ts";
import { parseNumber } from "./numbers.ts";
import { Scopes } from "./name-scopes.ts";

/** Deeper than hand-written code; it keeps every later tree walk within the stack. */
const MAX_NESTING = 200;

/** Binding strength to the left and to the right: a stronger left side makes an operator right-associative. */
const STRENGTH: ReadonlyMap<string, readonly [number, number]> = new Map<string, readonly [number, number]>([
  ["or", [1, 1]],
  ["and", [2, 2]],
  ...["<", ">", "<=", ">=", "==", "~="].map((operator) => [operator, [3, 3]] as const),
  ["..", [5, 4]],
  ["+", [6, 6]],
  ["-", [6, 6]],
  ["*", [7, 7]],
  ["/", [7, 7]],
  ["%", [7, 7]],
  ["^", [10, 9]],
]);
const UNARY_STRENGTH = 8;

export abstract class ExpressionParser {
  protected readonly lexer: Lexer;
  protected readonly scopes = new Scopes((problem) => this.compileError(problem));
  protected token: Token;
  #nesting = 0;
  protected lastLine = 1;

  constructor(source: string, name: string) {
    this.lexer = new Lexer(source, name);
    this.token = this.lexer.next();
  }

  /** Records a violated compiler rule that is not part of the grammar. */
  protected abstract compileError(problem: string): void;

  /** Parameters, statements and the final `end`. */
  protected abstract functionBody(isMethod: boolean): FunctionBody;

  // Tokens.

  protected advance(): Token {
    const token = this.token;
    this.lastLine = token.line;
    this.token = this.lexer.next();
    return token;
  }

  protected accept(type: string): boolean {
    if (this.token.type !== type) return false;
    this.advance();
    return true;
  }

  protected expect(type: string): Token {
    if (this.token.type !== type) throw this.syntaxError();
    return this.advance();
  }

  protected syntaxError(): LuaSyntaxError {
    return this.lexer.error("syntax error");
  }

  protected nest<T>(read: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw this.lexer.error(`more than ${MAX_NESTING} levels of nesting`);
    const result = read();
    this.#nesting -= 1;
    return result;
  }

  // Expressions.

  protected expressions(): Expression[] {
    const list = [this.expression()];
    while (this.accept(",")) list.push(this.expression());
    return list;
  }

  /** `name` is a token that was already read. */
  protected expression(limit = 0, name?: Token): Expression {
    return this.nest(() => {
      let left = name ? this.#suffixes(this.variable(name, false)) : this.#unary();
      for (;;) {
        const strength = STRENGTH.get(this.token.type);
        if (!strength || strength[0] <= limit) return left;
        const operator = this.advance().type as BinaryOperator;
        const right = this.expression(strength[1]);
        left = { kind: "binary", operator, left, right, line: left.line };
      }
    });
  }

  #unary(): Expression {
    const { type } = this.token;
    if (type !== "-" && type !== "not" && type !== "#") return this.#simple();
    this.advance();
    const operand = this.expression(UNARY_STRENGTH);
    return { kind: "unary", operator: type, operand, line: operand.line };
  }

  #simple(): Expression {
    const { type, line, text } = this.token;
    switch (type) {
      case "nil":
      case "true":
      case "false":
        this.advance();
        return { kind: type, line };
      case "NUMBER":
        this.advance();
        return { kind: "number", value: parseNumber(text) ?? NaN, line };
      case "STRING":
        this.advance();
        return { kind: "string", value: text, line };
      case "...":
        this.advance();
        this.scopes.useVararg();
        return { kind: "vararg", line };
      case "{":
        return this.#table();
      case "function":
        this.advance();
        return { kind: "function", body: this.functionBody(false), line };
      default:
        return this.prefixExpression();
    }
  }

  protected prefixExpression(): Expression {
    if (this.token.type === "NAME") return this.#suffixes(this.variable(this.advance(), false));
    const { line } = this.expect("(");
    const inner = this.expression();
    this.expect(")");
    const isSeveral = inner.kind === "call" || inner.kind === "method" || inner.kind === "vararg";
    // A parenthesized expression is not assignable, but any suffix may follow.
    const first: Expression =
      isSeveral || inner.kind === "local" || inner.kind === "global" || inner.kind === "index"
        ? { kind: "first", of: inner, line }
        : { ...inner, line };
    return this.#suffixes(first);
  }

  #suffixes(start: Expression): Expression {
    let expression = start;
    for (;;) {
      const { line } = expression;
      switch (this.token.type) {
        case ".": {
          this.advance();
          const key = this.expect("NAME");
          expression = {
            kind: "index",
            object: expression,
            key: { kind: "string", value: key.text, line: key.line },
            line,
          };
          break;
        }
        case "[": {
          this.advance();
          const key = this.expression();
          this.expect("]");
          expression = { kind: "index", object: expression, key, line };
          break;
        }
        case ":": {
          this.advance();
          const name = this.expect("NAME").text;
          expression = { kind: "method", receiver: expression, name, args: this.#args(), line };
          break;
        }
        case "(":
        case "{":
        case "STRING":
          expression = { kind: "call", callee: expression, args: this.#args(), line };
          break;
        default:
          return expression;
      }
    }
  }

  #args(): Expression[] {
    const { type, text, line } = this.token;
    if (type === "STRING") {
      this.advance();
      return [{ kind: "string", value: text, line }];
    }
    if (type === "{") return [this.#table()];
    this.expect("(");
    if (this.accept(")")) return [];
    const args = this.expressions();
    this.expect(")");
    return args;
  }

  protected variable({ text: name, line }: Token, assigned: boolean): Target {
    const variable = this.scopes.find(name);
    if (variable) {
      if (assigned) variable.assigned = true;
      return { kind: "local", variable, line };
    }
    this.scopes.globals.push({ name, line, assigned });
    return { kind: "global", name, line };
  }

  #table(): Expression {
    const { line } = this.expect("{");
    const fields: { key?: Expression; value: Expression }[] = [];
    while (this.token.type !== "}") {
      fields.push(this.#field());
      if (!this.accept(",") && !this.accept(";")) break;
      // Any number of separators may follow a field.
      while (this.accept(",") || this.accept(";"));
    }
    this.expect("}");
    return { kind: "table", fields, line };
  }

  #field(): { key?: Expression; value: Expression } {
    if (this.accept("[")) {
      const key = this.expression();
      this.expect("]");
      this.expect("=");
      return { key, value: this.expression() };
    }
    if (this.token.type !== "NAME") return { value: this.expression() };
    const name = this.advance();
    if (!this.accept("=")) return { value: this.expression(0, name) };
    return { key: { kind: "string", value: name.text, line: name.line }, value: this.expression() };
  }
}
