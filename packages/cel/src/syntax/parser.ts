/**
 * Parses an expression: tokens to a tree, by precedence. Macros are expanded during parsing, so that the rest of the
 * compiler only handles loops. Depth and length are limited, because expressions are untrusted.
 */
import { type Call, childrenOf, type Expr, type MapEntry, type StructField } from "./ast.ts";
import { RESERVED_WORDS, type Token } from "./lexer.ts";
import { literalValue } from "./literals.ts";
import { expandBinding, expandMacro } from "./macros.ts";
import type { Source } from "./source.ts";
import {
  extraneous,
  FIELD_NAME,
  FIELD_START,
  followsOperand,
  mismatched,
  notViable,
  OPERAND,
  operandOr,
  startsOperand,
} from "./syntax-errors.ts";
import { Abandoned, isText, TokenReader } from "./token-reader.ts";
import { CelError } from "../values/values.ts";

const MAX_CODE_POINTS = 100_000;
/**
 * The maximum nesting depth, counted in brackets while parsing and in operators afterwards: a long sum is deep, too.
 */
const MAX_DEPTH = 250;

const RELATIONS: ReadonlyMap<string, string> = new Map([
  ["<", "_<_"],
  ["<=", "_<=_"],
  [">=", "_>=_"],
  [">", "_>_"],
  ["==", "_==_"],
  ["!=", "_!=_"],
  ["in", "@in"],
]);
const SUMS: ReadonlyMap<string, string> = new Map([
  ["+", "_+_"],
  ["-", "_-_"],
]);
const PRODUCTS: ReadonlyMap<string, string> = new Map([
  ["*", "_*_"],
  ["/", "_/_"],
  ["%", "_%_"],
]);

/** The tree, or undefined when the source has errors. */
export function parse(source: Source, hasBindings?: boolean): Expr | undefined {
  if (source.characters.length > MAX_CODE_POINTS) {
    source.reportNowhere(
      `expression code point size exceeds limit: size: ${source.characters.length}, limit ${MAX_CODE_POINTS}`,
    );
    return undefined;
  }
  try {
    const expr = new Parser(source, hasBindings).parse();
    return source.hasErrors ? undefined : expr;
  } catch (error) {
    if (error instanceof Abandoned) return undefined;
    throw error;
  }
}

class Parser {
  private readonly source: Source;
  private readonly hasBindings: boolean;
  private readonly tokens: TokenReader;
  private depth = 0;
  /** The operator nesting depth of an expression. */
  private readonly depths = new Map<Expr, number>();

  constructor(source: Source, hasBindings = false) {
    this.source = source;
    this.hasBindings = hasBindings;
    this.tokens = new TokenReader(source);
  }

  parse(): Expr {
    const expr = this.expr();
    if (this.tokens.current.kind !== "end") {
      const isLast = this.tokens.ahead(1).kind === "end";
      this.tokens.fail((isLast ? extraneous : mismatched)(this.tokens.current, "<EOF>"));
    }
    return expr;
  }

  /** Counts one more level. Later passes over the tree recurse, so this limits all of them. */
  private nesting(expr: Expr): Expr {
    const depth = 1 + this.depthBelow(expr);
    if (depth > MAX_DEPTH) this.tooDeep("max recursion depth exceeded");
    this.depths.set(expr, depth);
    return expr;
  }

  private depthBelow(expr: Expr): number {
    let most = 0;
    for (const child of childrenOf(expr)) most = Math.max(most, this.depths.get(child) ?? this.depthBelow(child));
    return most;
  }

  private tooDeep(message: string): never {
    this.source.reportNowhere(message);
    throw new Abandoned("the expression is nested too deeply");
  }

  private expr(): Expr {
    if (++this.depth > MAX_DEPTH) this.tooDeep(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.or();
    const question = this.tokens.take("?");
    let result = condition;
    if (question) {
      const yes = this.tokens.before(":", () => this.or());
      this.tokens.expect(":", startsOperand);
      result = this.nesting(this.call("_?_:_", [condition, yes, this.expr()], question.offset));
    }
    this.depth -= 1;
    return result;
  }

  private or(): Expr {
    return this.logical("||", "_||_", () => this.logical("&&", "_&&_", () => this.chain(RELATIONS, () => this.sum())));
  }

  /** `a && b && c` is one call with three arguments: it stops at the first that decides. */
  private logical(operator: string, name: string, term: () => Expr): Expr {
    const terms = [term()];
    let offset = 0;
    for (let found = this.tokens.take(operator); found; found = this.tokens.take(operator)) {
      offset = found.offset;
      terms.push(term());
    }
    return terms.length === 1 ? (terms[0] as Expr) : this.call(name, terms, offset);
  }

  private sum(): Expr {
    return this.chain(SUMS, () => this.chain(PRODUCTS, () => this.unary()));
  }

  private chain(operators: ReadonlyMap<string, string>, operand: () => Expr): Expr {
    let left = operand();
    for (;;) {
      const { kind, text, offset } = this.tokens.current;
      const name = kind === "operator" || kind === "in" ? operators.get(text) : undefined;
      if (name === undefined) return left;
      this.tokens.skip();
      left = this.nesting(this.call(name, [left, operand()], offset));
    }
  }

  private unary(): Expr {
    for (const [operator, name] of [
      ["!", "!_"],
      ["-", "-_"],
    ] as const) {
      if (!this.tokens.at(operator) || (operator === "-" && isNumber(this.tokens.ahead(1)))) continue;
      const first = this.tokens.current;
      let count = 0;
      while (this.tokens.take(operator)) count += 1;
      if (!startsOperand(this.tokens.current)) this.failUnary(operator);
      const operand = this.member();
      return count % 2 === 0 ? operand : this.call(name, [operand], first.offset);
    }
    return this.member();
  }

  private failUnary(operator: "!" | "-"): never {
    if (operator === "!") this.tokens.fail(extraneous(this.tokens.current, OPERAND));
    this.tokens.report(notViable(operator, this.tokens.current));
    this.tokens.fail(this.tokens.current.kind === "end" ? mismatched(this.tokens.current, OPERAND) : undefined);
  }

  private member(): Expr {
    let expr = this.primary();
    for (;;) {
      const dot = this.tokens.take(".");
      const bracket = dot ? undefined : this.tokens.take("[");
      if (!dot && !bracket) return expr;
      expr = this.nesting(dot ? this.select(expr, dot) : this.indexed(expr, bracket as Token));
    }
  }

  private select(operand: Expr, dot: Token): Expr {
    const isOptional = this.tokens.take("?") !== undefined;
    const name = this.tokens.current;
    if (name.kind === "escaped") this.source.report(name.offset, "unsupported syntax: '`'");
    else if (name.kind !== "identifier") return this.noField(operand, isOptional);
    this.tokens.skip();
    if (isOptional)
      return this.call("_?._", [operand, { kind: "literal", offset: name.offset, value: name.text }], dot.offset);
    const open = name.kind === "identifier" ? this.tokens.take("(") : undefined;
    if (!open) return { kind: "select", offset: dot.offset, operand, field: name.text, isTest: false };
    return this.callOrMacro(name.text, operand, this.args(), open.offset);
  }

  private noField(operand: Expr, isOptional: boolean): Expr {
    const { current } = this.tokens;
    if (isOptional) {
      this.tokens.report(mismatched(current, FIELD_NAME));
      this.tokens.fail("unsupported ident kind");
    }
    const isKeyword = current.kind === "true" || current.kind === "false" || current.kind === "null";
    this.tokens.report(isKeyword ? mismatched(current, "IDENTIFIER") : notViable(".", current));
    return followsOperand(current) ? operand : this.tokens.fail();
  }

  private indexed(operand: Expr, bracket: Token): Expr {
    const isOptional = this.tokens.take("?") !== undefined;
    this.tokens.atOperand(isOptional ? OPERAND : operandOr("?"));
    const index = this.tokens.before("]", () => this.expr());
    this.tokens.expect("]", (token) => this.tokens.canFollow(token));
    return this.call(isOptional ? "_[?_]" : "_[_]", [operand, index], bracket.offset);
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    this.tokens.atOperand(operandOr(")"), (token) => isText(token, ")"));
    if (this.tokens.take(")")) return args;
    do args.push(this.tokens.before(",)", () => this.expr()));
    while (this.tokens.take(","));
    this.tokens.expect(")", (token) => this.tokens.canFollow(token));
    return args;
  }

  private primary(): Expr {
    this.tokens.atOperand();
    const start = this.tokens.current;
    if (start.kind === "operator") {
      switch (start.text) {
        case "(":
          return this.nested();
        case "[":
          return this.list();
        case "{":
          return this.map();
        case ".":
          if (this.tokens.ahead(1).kind !== "identifier") break;
          this.tokens.skip();
          return this.name(start, ".");
        case "-":
          return this.literal();
        default:
      }
      return this.tokens.fail(notViable(start.text, this.tokens.ahead(1)));
    }
    if (start.kind === "identifier") return this.name(start, "");
    return this.literal();
  }

  private nested(): Expr {
    this.tokens.skip();
    const expr = this.tokens.before(")", () => this.expr());
    this.tokens.expect(")", (token) => this.tokens.canFollow(token));
    return expr;
  }

  private name(start: Token, dot: string): Expr {
    const { text, offset } = this.tokens.current;
    if (this.isMessage()) return this.message(dot);
    this.tokens.skip();
    const open = this.tokens.take("(");
    if (RESERVED_WORDS.has(text)) {
      this.source.report(start.offset, `reserved identifier: ${text}`);
      if (!open) return { kind: "literal", offset, value: null };
    }
    if (open) return this.callOrMacro(dot + text, undefined, this.args(), open.offset);
    return { kind: "ident", offset, name: dot + text };
  }

  /** Reports whether identifiers and dots lead to a brace: `a.b.C{…}`. */
  private isMessage(): boolean {
    let count = 1;
    while (isText(this.tokens.ahead(count), ".") && this.tokens.ahead(count + 1).kind === "identifier") count += 2;
    return isText(this.tokens.ahead(count), "{");
  }

  private message(dot: string): Expr {
    let name = dot;
    while (!this.tokens.at("{")) name += this.tokens.skip().text;
    const open = this.tokens.current.offset;
    this.tokens.skip();
    const fields: StructField[] = [];
    while (!this.tokens.at("}")) {
      const isOptional = this.tokens.take("?") !== undefined;
      const field = this.tokens.current;
      if (field.kind === "escaped") this.source.report(field.offset, "unsupported syntax: '`'");
      else if (field.kind !== "identifier") this.tokens.fail(mismatched(field, isOptional ? FIELD_NAME : FIELD_START));
      this.tokens.skip();
      const { offset } = this.tokens.expect(":", startsOperand);
      fields.push({ name: field.text, value: this.tokens.before(",}", () => this.expr()), isOptional, offset });
      if (!this.tokens.take(",")) break;
    }
    this.tokens.close("}");
    return { kind: "struct", offset: open, name, fields };
  }

  private list(): Expr {
    const { offset } = this.tokens.current;
    this.tokens.skip();
    const elements: Expr[] = [];
    const optionals = new Set<number>();
    this.tokens.atOperand(
      operandOr("]", ",", "?"),
      (token) => isText(token, "]") || isText(token, "?") || isText(token, ","),
    );
    // An empty list may contain a comma.
    if (isText(this.tokens.ahead(1), "]")) this.tokens.take(",");
    while (!this.tokens.at("]")) {
      if (this.tokens.take("?")) optionals.add(elements.length);
      elements.push(this.tokens.before(",]", () => this.expr()));
      if (!this.tokens.take(",")) break;
    }
    this.tokens.close("]");
    return { kind: "list", offset, elements, optionals };
  }

  private map(): Expr {
    const { offset } = this.tokens.current;
    this.tokens.skip();
    const entries: MapEntry[] = [];
    this.tokens.atOperand(
      operandOr("}", ",", "?"),
      (token) => isText(token, "}") || isText(token, "?") || isText(token, ","),
    );
    if (isText(this.tokens.ahead(1), "}")) this.tokens.take(",");
    while (!this.tokens.at("}")) {
      const isOptional = this.tokens.take("?") !== undefined;
      const key = this.tokens.before(":", () => this.expr());
      this.tokens.expect(":", startsOperand);
      entries.push({ key, value: this.tokens.before(",}", () => this.expr()), isOptional });
      if (!this.tokens.take(",")) break;
    }
    this.tokens.close("}");
    return { kind: "map", offset, entries };
  }

  private literal(): Expr {
    const { offset } = this.tokens.current;
    const isNegative = this.tokens.take("-") !== undefined;
    const { kind, text } = this.tokens.current;
    const value = literalValue(kind, (isNegative ? "-" : "") + text);
    if (value === undefined) this.tokens.fail(mismatched(this.tokens.current, OPERAND));
    this.tokens.skip();
    if (value instanceof CelError) this.source.report(offset, value.message);
    return { kind: "literal", offset, value };
  }

  private call(name: string, args: Expr[], offset: number): Call {
    return { kind: "call", offset, name, target: undefined, args };
  }

  private callOrMacro(name: string, target: Expr | undefined, args: Expr[], offset: number): Expr {
    const expanded =
      (this.hasBindings ? expandBinding(name, target, args, offset) : undefined) ??
      expandMacro(name, target, args, offset);
    if (expanded === undefined) return { kind: "call", offset, name, target, args };
    if (expanded.kind !== "problem") return expanded;
    this.source.report(expanded.offset, expanded.message);
    return { kind: "literal", offset, value: null };
  }
}

const isNumber = ({ kind }: Token): boolean => kind === "int" || kind === "float";
