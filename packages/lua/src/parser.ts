/**
 * Parses a script into a syntax tree, with gopher-lua's grammar, messages and line numbers. Statements and functions
 * are parsed here.
 */
import type { Block, Expression, FunctionBody, Label, Script, Statement, Target } from "./ast.ts";
import { LuaSyntaxError } from "./errors.ts";
import { ExpressionParser } from "./expression-parser.ts";
import type { Scopes } from "./name-scopes.ts";

/** Karmada's scripts are a few kilobytes. */
const MAX_SOURCE_CHARACTERS = 256 * 1024;

const BLOCK_ENDS = new Set(["EOF", "end", "else", "elseif", "until"]);
const UNRESOLVED: Label = { name: "", id: -1, fromBefore: false, fromAfter: false };

/** Throws `LuaSyntaxError`. */
export function parse(source: string, name: string): Script {
  if (source.length > MAX_SOURCE_CHARACTERS)
    throw new LuaSyntaxError(`${name}: the script has ${source.length} characters, more than ${MAX_SOURCE_CHARACTERS}`);
  return new Parser(source, name).script();
}

class Parser extends ExpressionParser {
  readonly #name: string;
  #statementLine = 0;
  #isAtEnd = false;
  #compileError: LuaSyntaxError | undefined;

  constructor(source: string, name: string) {
    super(source, name);
    this.#name = name;
  }

  script(): Script {
    this.scopes.openFunction(true, false);
    const block = this.#block(() => (this.#isAtEnd = true));
    if (this.token.type !== "EOF") throw this.syntaxError();
    if (this.#compileError) throw this.#compileError;
    const argVariable = this.scopes.closeFunction();
    const main: FunctionBody = { parameters: [], isVariadic: true, block, argVariable };
    return { main, globals: this.scopes.globals };
  }

  protected override compileError(problem: string): void {
    // Errors in the whole script are reported after its last statement.
    const line = this.#isAtEnd ? this.#statementLine + 1 : this.lastLine;
    this.#compileError ??= new LuaSyntaxError(`compile error near line(${line}) ${this.#name}: ${problem}`, {
      line,
      column: this.token.column,
    });
  }

  // Statements.

  /** A block and the scope it opens; `last` parses what still belongs to that scope. */
  #block(last?: () => void): Block {
    return this.nest(() => {
      this.scopes.openBlock();
      const block = this.#statements();
      last?.();
      this.scopes.closeBlock();
      return block;
    });
  }

  #statements(): Block {
    const statements: Statement[] = [];
    while (!BLOCK_ENDS.has(this.token.type)) {
      if (this.accept(";")) continue;
      const { line } = this.token;
      const statement = this.#statement();
      this.#statementLine = line;
      statements.push(statement);
      if (statement.kind === "return" || statement.kind === "break") {
        this.accept(";");
        if (!BLOCK_ENDS.has(this.token.type)) throw this.syntaxError();
        break;
      }
    }
    this.scopes.markLastLabels(statements);
    return { statements };
  }

  #statement(): Statement {
    const { type, line } = this.token;
    switch (type) {
      case "do": {
        this.advance();
        const block = this.#block();
        this.expect("end");
        return { kind: "do", block, line };
      }
      case "while": {
        this.advance();
        const condition = this.expression();
        this.expect("do");
        const block = this.#loopBlock();
        this.expect("end");
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
        this.advance();
        return this.accept("function") ? this.#localFunction(line) : this.#local(line);
      case "return": {
        this.advance();
        const isBare = BLOCK_ENDS.has(this.token.type) || this.token.type === ";";
        return { kind: "return", values: isBare ? [] : this.expressions(), line };
      }
      case "break":
        this.advance();
        this.scopes.leaveLoopEarly();
        return { kind: "break", line };
      case "::": {
        this.advance();
        const name = this.expect("NAME").text;
        this.expect("::");
        return { kind: "label", label: this.scopes.addLabel(name, line), line };
      }
      case "goto": {
        this.advance();
        const statement = { kind: "goto" as const, label: UNRESOLVED, line };
        this.scopes.addGoto(this.expect("NAME").text, line, statement);
        return statement;
      }
      default:
        return this.#expressionStatement();
    }
  }

  #loopBlock(): Block {
    this.scopes.enterLoop();
    const block = this.#block();
    this.scopes.leaveLoop();
    return block;
  }

  #repeat(): Statement {
    const { line } = this.advance();
    let condition: Expression | undefined;
    this.scopes.enterLoop();
    // The condition still sees the locals of the block.
    const block = this.#block(() => {
      this.expect("until");
      condition = this.expression();
    });
    this.scopes.leaveLoop();
    return { kind: "repeat", block, condition: condition ?? { kind: "true", line }, line };
  }

  #if(): Statement {
    const { line } = this.advance();
    const condition = this.expression();
    this.expect("then");
    const block = this.#block();
    if (this.token.type === "elseif") {
      const nested = this.nest(() => this.#if());
      return { kind: "if", condition, block, otherwise: { statements: [nested] }, line };
    }
    const otherwise = this.accept("else") ? this.#block() : undefined;
    this.expect("end");
    return { kind: "if", condition, block, otherwise, line };
  }

  #for(): Statement {
    const { line } = this.advance();
    const first = this.expect("NAME").text;
    if (this.accept("=")) {
      const from = this.expression();
      this.expect(",");
      const to = this.expression();
      const step = this.accept(",") ? this.expression() : undefined;
      this.expect("do");
      return this.#forBlock([first], ([variable], block) => {
        if (!variable) throw this.syntaxError();
        return { kind: "forNumber", variable, from, to, step, block, line };
      });
    }
    const names = [first];
    while (this.accept(",")) names.push(this.expect("NAME").text);
    this.expect("in");
    const values = this.expressions();
    this.expect("do");
    return this.#forBlock(names, (variables, block) => ({ kind: "forIn", variables, values, block, line }));
  }

  #forBlock(
    names: readonly string[],
    build: (variables: ReturnType<Scopes["declare"]>[], block: Block) => Statement,
  ): Statement {
    this.scopes.openBlock();
    const variables = names.map((name) => this.scopes.declare(name));
    const block = this.#loopBlock();
    this.expect("end");
    this.scopes.closeBlock();
    return build(variables, block);
  }

  #functionStatement(): Statement {
    const { line } = this.advance();
    let target: Target = this.variable(this.expect("NAME"), true);
    while (this.token.type === "." || this.token.type === ":") {
      const isMethod = this.advance().type === ":";
      const key = this.expect("NAME");
      if (target.kind === "global") this.scopes.globals.pop();
      const object: Expression =
        target.kind === "global" ? this.variable({ ...key, text: target.name, line: target.line }, false) : target;
      target = { kind: "index", object, key: { kind: "string", value: key.text, line: key.line }, line: key.line };
      if (isMethod)
        return {
          kind: "assign",
          targets: [target],
          values: [{ kind: "function", body: this.functionBody(true), line }],
          line,
        };
    }
    return {
      kind: "assign",
      targets: [target],
      values: [{ kind: "function", body: this.functionBody(false), line }],
      line,
    };
  }

  #localFunction(line: number): Statement {
    const variable = this.scopes.declare(this.expect("NAME").text);
    return { kind: "localFunction", variable, body: this.functionBody(false), line };
  }

  #local(line: number): Statement {
    const names = [this.expect("NAME").text];
    while (this.accept(",")) names.push(this.expect("NAME").text);
    if (!this.accept("="))
      return { kind: "local", variables: names.map((name) => this.scopes.declare(name)), values: [], line };
    if (names.length === 1 && this.token.type === "function") {
      // A single function can refer to its own name, as after `local function`, unless more values follow it.
      const variable = this.scopes.declare(names[0] ?? "");
      const values = this.expressions();
      const [only] = values;
      if (values.length === 1 && only?.kind === "function")
        return { kind: "localFunction", variable, body: only.body, line };
      return { kind: "local", variables: [variable], values, line };
    }
    const values = this.expressions();
    return { kind: "local", variables: names.map((name) => this.scopes.declare(name)), values, line };
  }

  #expressionStatement(): Statement {
    const first = this.prefixExpression();
    if (this.token.type !== "=" && this.token.type !== ",") {
      if (first.kind === "call" || first.kind === "method") return { kind: "call", call: first, line: first.line };
      throw this.lexer.error("parse error");
    }
    // A parenthesized expression, or one that is not a variable, ends as a statement before the sign.
    if (
      first.kind !== "local" &&
      first.kind !== "global" &&
      first.kind !== "index" &&
      first.kind !== "call" &&
      first.kind !== "method"
    )
      throw this.lexer.error("parse error");
    const targets = [this.#target(first)];
    while (this.accept(",")) targets.push(this.#target(this.prefixExpression()));
    this.expect("=");
    return { kind: "assign", targets, values: this.expressions(), line: first.line };
  }

  #target(expression: Expression): Target {
    if (expression.kind === "local") {
      expression.variable.assigned = true;
      return expression;
    }
    if (expression.kind === "global") {
      this.scopes.globals.push({ name: expression.name, line: expression.line, assigned: true });
      return expression;
    }
    if (expression.kind === "index") return expression;
    throw this.syntaxError();
  }

  // Functions.

  protected override functionBody(isMethod: boolean): FunctionBody {
    this.expect("(");
    const names = isMethod ? ["self"] : [];
    let isVariadic = false;
    while (this.token.type !== ")") {
      if (this.accept("...")) {
        isVariadic = true;
        break;
      }
      names.push(this.expect("NAME").text);
      if (this.token.type === ")") break;
      this.expect(",");
      if (this.token.type === ")") throw this.syntaxError();
    }
    this.expect(")");
    this.scopes.openFunction(isVariadic);
    this.scopes.openBlock();
    const parameters = names.map((name) => this.scopes.declare(name));
    const block = this.#block();
    this.expect("end");
    this.scopes.closeBlock();
    const argVariable = this.scopes.closeFunction();
    return { parameters, isVariadic, block, argVariable };
  }
}
