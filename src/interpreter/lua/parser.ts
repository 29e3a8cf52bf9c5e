/** Reads a script into a syntax tree, with gopher-lua's grammar, messages and line numbers. */
import type { BinaryOperator, Block, Expression, FunctionBody, Label, Script, Statement, Target } from "./ast.ts";
import { LuaSyntaxError } from "./errors.ts";
import { Lexer } from "./lexer.ts";
import type { Token } from "./lexer.ts";
import { parseNumber } from "./numbers.ts";
import { ScopeError, Scopes } from "./scope.ts";

/** Deeper nesting than anybody writes; it keeps every later walk within the stack. */
export const MAX_NESTING = 200;
/** Karmada's scripts have a few kilobytes. */
export const MAX_SOURCE_CHARACTERS = 256 * 1024;

/** Binding strength to the left and to the right: a stronger left side makes an operator group from the right. */
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
const BLOCK_ENDS = new Set(["EOF", "end", "else", "elseif", "until"]);
const UNRESOLVED: Label = { name: "", id: -1, fromBefore: false, fromAfter: false };

/** Throws `LuaSyntaxError`. */
export function parse(source: string, name: string): Script {
  if (source.length > MAX_SOURCE_CHARACTERS) throw new LuaSyntaxError(`${name}: the script has ${source.length} characters, more than ${MAX_SOURCE_CHARACTERS}`);
  return new Parser(source, name).script();
}

class Parser {
  readonly #lexer: Lexer;
  readonly #name: string;
  readonly #scopes = new Scopes();
  #token: Token;
  #nesting = 0;
  #lastLine = 1;
  #statementLine = 0;
  #errorLine: number | undefined;

  constructor(source: string, name: string) {
    this.#name = name;
    this.#lexer = new Lexer(source, name);
    this.#token = this.#lexer.next();
  }

  script(): Script {
    try {
      this.#scopes.openFunction(true, false);
      // What is wrong with the whole script is reported behind its last statement.
      const block = this.#block(() => (this.#errorLine = this.#statementLine + 1));
      if (this.#token.type !== "EOF") throw this.#syntaxError();
      const argVariable = this.#scopes.closeFunction();
      const main: FunctionBody = { parameters: [], isVariadic: true, block, ...(argVariable && { argVariable }) };
      return { main, globals: this.#scopes.globals };
    } catch (error) {
      if (!(error instanceof ScopeError)) throw error;
      const line = this.#errorLine ?? this.#lastLine;
      throw new LuaSyntaxError(`compile error near line(${line}) ${this.#name}: ${error.message}`, { line, column: this.#token.column });
    }
  }

  // Tokens.

  #advance(): Token {
    const token = this.#token;
    this.#lastLine = token.line;
    this.#token = this.#lexer.next();
    return token;
  }

  #accept(type: string): boolean {
    if (this.#token.type !== type) return false;
    this.#advance();
    return true;
  }

  #expect(type: string): Token {
    if (this.#token.type !== type) throw this.#syntaxError();
    return this.#advance();
  }

  #syntaxError(): LuaSyntaxError {
    return this.#lexer.error("syntax error");
  }

  #nest<T>(read: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw this.#lexer.error(`more than ${MAX_NESTING} levels of nesting`);
    const result = read();
    this.#nesting -= 1;
    return result;
  }

  // Statements.

  /** A block and the scope it opens; `last` reads what still belongs to that scope. */
  #block(last?: () => void): Block {
    return this.#nest(() => {
      this.#scopes.openBlock();
      const block = this.#statements();
      last?.();
      this.#scopes.closeBlock();
      return block;
    });
  }

  #statements(): Block {
    const statements: Statement[] = [];
    while (!BLOCK_ENDS.has(this.#token.type)) {
      if (this.#accept(";")) continue;
      const { line } = this.#token;
      const statement = this.#statement();
      this.#statementLine = line;
      statements.push(statement);
      if (statement.kind === "return" || statement.kind === "break") {
        this.#accept(";");
        if (!BLOCK_ENDS.has(this.#token.type)) throw this.#syntaxError();
        break;
      }
    }
    this.#scopes.markLastLabels(statements);
    return { statements };
  }

  #statement(): Statement {
    const { type, line } = this.#token;
    switch (type) {
      case "do": {
        this.#advance();
        const block = this.#block();
        this.#expect("end");
        return { kind: "do", block, line };
      }
      case "while": {
        this.#advance();
        const condition = this.#expression();
        this.#expect("do");
        const block = this.#loopBlock();
        this.#expect("end");
        return { kind: "while", condition, block, line };
      }
      case "repeat":
        return this.#repeat();
      case "if":
        return this.#if();
      case "for":
        return this.#for();
      case "function":
        return this.#functionStatement();
      case "local":
        this.#advance();
        return this.#accept("function") ? this.#localFunction(line) : this.#local(line);
      case "return": {
        this.#advance();
        const isBare = BLOCK_ENDS.has(this.#token.type) || this.#token.type === ";";
        return { kind: "return", values: isBare ? [] : this.#expressions(), line };
      }
      case "break":
        this.#advance();
        if (!this.#scopes.isInLoop) throw new ScopeError("no loop to break");
        return { kind: "break", line };
      case "::": {
        this.#advance();
        const name = this.#expect("NAME").text;
        this.#expect("::");
        return { kind: "label", label: this.#scopes.addLabel(name, line), line };
      }
      case "goto": {
        this.#advance();
        const statement = { kind: "goto" as const, label: UNRESOLVED, line };
        this.#scopes.addGoto(this.#expect("NAME").text, line, statement);
        return statement;
      }
      default:
        return this.#expressionStatement();
    }
  }

  #loopBlock(): Block {
    this.#scopes.enterLoop();
    const block = this.#block();
    this.#scopes.leaveLoop();
    return block;
  }

  #repeat(): Statement {
    const { line } = this.#advance();
    let condition: Expression | undefined;
    this.#scopes.enterLoop();
    // The condition still sees the locals of the block.
    const block = this.#block(() => {
      this.#expect("until");
      condition = this.#expression();
    });
    this.#scopes.leaveLoop();
    return { kind: "repeat", block, condition: condition ?? { kind: "true", line }, line };
  }

  #if(): Statement {
    const { line } = this.#advance();
    const condition = this.#expression();
    this.#expect("then");
    const block = this.#block();
    if (this.#token.type === "elseif") {
      const nested = this.#nest(() => this.#if());
      return { kind: "if", condition, block, otherwise: { statements: [nested] }, line };
    }
    const otherwise = this.#accept("else") ? this.#block() : undefined;
    this.#expect("end");
    return { kind: "if", condition, block, ...(otherwise && { otherwise }), line };
  }

  #for(): Statement {
    const { line } = this.#advance();
    const first = this.#expect("NAME").text;
    if (this.#accept("=")) {
      const from = this.#expression();
      this.#expect(",");
      const to = this.#expression();
      const step = this.#accept(",") ? this.#expression() : undefined;
      this.#expect("do");
      return this.#forBlock([first], ([variable], block) => {
        if (!variable) throw this.#syntaxError();
        return { kind: "forNumber", variable, from, to, ...(step && { step }), block, line };
      });
    }
    const names = [first];
    while (this.#accept(",")) names.push(this.#expect("NAME").text);
    this.#expect("in");
    const values = this.#expressions();
    this.#expect("do");
    return this.#forBlock(names, (variables, block) => ({ kind: "forIn", variables, values, block, line }));
  }

  #forBlock(names: readonly string[], build: (variables: ReturnType<Scopes["declare"]>[], block: Block) => Statement): Statement {
    this.#scopes.openBlock();
    const variables = names.map((name) => this.#scopes.declare(name));
    const block = this.#loopBlock();
    this.#expect("end");
    this.#scopes.closeBlock();
    return build(variables, block);
  }

  #functionStatement(): Statement {
    const { line } = this.#advance();
    let target: Target = this.#variable(this.#expect("NAME"), true);
    while (this.#token.type === "." || this.#token.type === ":") {
      const isMethod = this.#advance().type === ":";
      const key = this.#expect("NAME");
      if (target.kind === "global") this.#scopes.globals.pop();
      const object: Expression = target.kind === "global" ? this.#variable({ ...key, text: target.name, line: target.line }, false) : target;
      target = { kind: "index", object, key: { kind: "string", value: key.text, line: key.line }, line: key.line };
      if (isMethod) return { kind: "assign", targets: [target], values: [{ kind: "function", body: this.#functionBody(true), line }], line };
    }
    return { kind: "assign", targets: [target], values: [{ kind: "function", body: this.#functionBody(false), line }], line };
  }

  #localFunction(line: number): Statement {
    const variable = this.#scopes.declare(this.#expect("NAME").text);
    return { kind: "localFunction", variable, body: this.#functionBody(false), line };
  }

  #local(line: number): Statement {
    const names = [this.#expect("NAME").text];
    while (this.#accept(",")) names.push(this.#expect("NAME").text);
    if (!this.#accept("=")) return { kind: "local", variables: names.map((name) => this.#scopes.declare(name)), values: [], line };
    if (names.length === 1 && this.#token.type === "function") {
      // A single function sees its own name, as after `local function`, unless more follows it.
      const variable = this.#scopes.declare(names[0] ?? "");
      const values = this.#expressions();
      const [only] = values;
      if (values.length === 1 && only?.kind === "function") return { kind: "localFunction", variable, body: only.body, line };
      return { kind: "local", variables: [variable], values, line };
    }
    const values = this.#expressions();
    return { kind: "local", variables: names.map((name) => this.#scopes.declare(name)), values, line };
  }

  #expressionStatement(): Statement {
    const first = this.#prefixExpression();
    if (this.#token.type !== "=" && this.#token.type !== ",") {
      if (first.kind === "call" || first.kind === "method") return { kind: "call", call: first, line: first.line };
      throw this.#lexer.error("parse error");
    }
    // What is in parentheses, or is no variable at all, ends as a statement before the sign.
    if (first.kind !== "local" && first.kind !== "global" && first.kind !== "index" && first.kind !== "call" && first.kind !== "method") throw this.#lexer.error("parse error");
    const targets = [this.#target(first)];
    while (this.#accept(",")) targets.push(this.#target(this.#prefixExpression()));
    this.#expect("=");
    return { kind: "assign", targets, values: this.#expressions(), line: first.line };
  }

  #target(expression: Expression): Target {
    if (expression.kind === "local") {
      expression.variable.assigned = true;
      return expression;
    }
    if (expression.kind === "global") {
      this.#scopes.globals.push({ name: expression.name, line: expression.line, assigned: true });
      return expression;
    }
    if (expression.kind === "index") return expression;
    throw this.#syntaxError();
  }

  // Expressions.

  #expressions(): Expression[] {
    const list = [this.#expression()];
    while (this.#accept(",")) list.push(this.#expression());
    return list;
  }

  /** `name` is one that has been read already. */
  #expression(limit = 0, name?: Token): Expression {
    return this.#nest(() => {
      let left = name ? this.#suffixes(this.#variable(name, false)) : this.#unary();
      for (;;) {
        const strength = STRENGTH.get(this.#token.type);
        if (!strength || strength[0] <= limit) return left;
        const operator = this.#advance().type as BinaryOperator;
        const right = this.#expression(strength[1]);
        left = { kind: "binary", operator, left, right, line: left.line };
      }
    });
  }

  #unary(): Expression {
    const { type } = this.#token;
    if (type !== "-" && type !== "not" && type !== "#") return this.#simple();
    this.#advance();
    const operand = this.#expression(UNARY_STRENGTH);
    return { kind: "unary", operator: type, operand, line: operand.line };
  }

  #simple(): Expression {
    const { type, line, text } = this.#token;
    switch (type) {
      case "nil":
      case "true":
      case "false":
        this.#advance();
        return { kind: type, line };
      case "NUMBER":
        this.#advance();
        return { kind: "number", value: parseNumber(text) ?? NaN, line };
      case "STRING":
        this.#advance();
        return { kind: "string", value: text, line };
      case "...":
        this.#advance();
        if (!this.#scopes.useVararg()) throw new ScopeError("cannot use '...' outside a vararg function");
        return { kind: "vararg", line };
      case "{":
        return this.#table();
      case "function":
        this.#advance();
        return { kind: "function", body: this.#functionBody(false), line };
      default:
        return this.#prefixExpression();
    }
  }

  #prefixExpression(): Expression {
    if (this.#token.type === "NAME") return this.#suffixes(this.#variable(this.#advance(), false));
    const { line } = this.#expect("(");
    const inner = this.#expression();
    this.#expect(")");
    const isSeveral = inner.kind === "call" || inner.kind === "method" || inner.kind === "vararg";
    // What is in parentheses is no target of an assignment, but any suffix may follow.
    const first: Expression = isSeveral || inner.kind === "local" || inner.kind === "global" || inner.kind === "index" ? { kind: "first", of: inner, line } : { ...inner, line };
    return this.#suffixes(first);
  }

  #suffixes(start: Expression): Expression {
    let expression = start;
    for (;;) {
      const { line } = expression;
      switch (this.#token.type) {
        case ".": {
          this.#advance();
          const key = this.#expect("NAME");
          expression = { kind: "index", object: expression, key: { kind: "string", value: key.text, line: key.line }, line };
          break;
        }
        case "[": {
          this.#advance();
          const key = this.#expression();
          this.#expect("]");
          expression = { kind: "index", object: expression, key, line };
          break;
        }
        case ":": {
          this.#advance();
          const name = this.#expect("NAME").text;
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
    const { type, text, line } = this.#token;
    if (type === "STRING") {
      this.#advance();
      return [{ kind: "string", value: text, line }];
    }
    if (type === "{") return [this.#table()];
    this.#expect("(");
    if (this.#accept(")")) return [];
    const args = this.#expressions();
    this.#expect(")");
    return args;
  }

  #variable({ text: name, line }: Token, assigned: boolean): Target {
    const variable = this.#scopes.find(name);
    if (variable) {
      if (assigned) variable.assigned = true;
      return { kind: "local", variable, line };
    }
    this.#scopes.globals.push({ name, line, assigned });
    return { kind: "global", name, line };
  }

  #table(): Expression {
    const { line } = this.#expect("{");
    const fields: { key?: Expression; value: Expression }[] = [];
    while (this.#token.type !== "}") {
      fields.push(this.#field());
      if (!this.#accept(",") && !this.#accept(";")) break;
    }
    this.#expect("}");
    return { kind: "table", fields, line };
  }

  #field(): { key?: Expression; value: Expression } {
    if (this.#accept("[")) {
      const key = this.#expression();
      this.#expect("]");
      this.#expect("=");
      return { key, value: this.#expression() };
    }
    if (this.#token.type !== "NAME") return { value: this.#expression() };
    const name = this.#advance();
    if (!this.#accept("=")) return { value: this.#expression(0, name) };
    return { key: { kind: "string", value: name.text, line: name.line }, value: this.#expression() };
  }

  #functionBody(isMethod: boolean): FunctionBody {
    this.#expect("(");
    const names = isMethod ? ["self"] : [];
    let isVariadic = false;
    while (this.#token.type !== ")") {
      if (this.#accept("...")) {
        isVariadic = true;
        break;
      }
      names.push(this.#expect("NAME").text);
      if (this.#token.type === ")") break;
      this.#expect(",");
      if (this.#token.type === ")") throw this.#syntaxError();
    }
    this.#expect(")");
    this.#scopes.openFunction(isVariadic);
    this.#scopes.openBlock();
    const parameters = names.map((name) => this.#scopes.declare(name));
    const block = this.#block();
    this.#expect("end");
    this.#scopes.closeBlock();
    const argVariable = this.#scopes.closeFunction();
    return { parameters, isVariadic, block, ...(argVariable && { argVariable }) };
  }
}
