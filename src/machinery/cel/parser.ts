/**
 * Reads an expression: tokens to a tree, by precedence. Macros are expanded on the way, so that the rest of the compiler knows
 * only loops. Depth and length are bounded, whoever wrote the expression.
 */
import { type Call, childrenOf, type Expr, type MapEntry, type StructField } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import { expandMacro } from "./macros.ts";
import { intOf, MAX_INT, MAX_UINT, MIN_INT, parseDouble } from "./numbers.ts";
import type { Source } from "./source.ts";
import { extraneous, FIELD_NAME, FIELD_START, followsOperand, isBinary, mismatched, missing, notViable, OPERAND, operandOr, startsOperand } from "./syntax-errors.ts";
import { unescapeBytes, unescapeText } from "./unescape.ts";
import { CelDouble, CelError, CelUint, type CelValue } from "./values.ts";

const MAX_CODE_POINTS = 100_000;
/** How deep expressions nest, counted in brackets while reading and in operators afterwards: a long sum is deep, too. */
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
const RESERVED = new Set(["as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "package", "namespace", "null", "return", "true", "var", "void", "while"]);

/** Thrown to leave the parser once what is wrong has been reported. */
class Abandoned extends Error {}

/** The tree, or undefined when the source has errors. */
export function parse(source: Source): Expr | undefined {
  if (source.characters.length > MAX_CODE_POINTS) {
    source.reportNowhere(`expression code point size exceeds limit: size: ${source.characters.length}, limit ${MAX_CODE_POINTS}`);
    return undefined;
  }
  try {
    const expr = new Parser(source).parse();
    return source.hasErrors ? undefined : expr;
  } catch (error) {
    if (error instanceof Abandoned) return undefined;
    throw error;
  }
}

class Parser {
  private readonly source: Source;
  private readonly tokens: readonly Token[];
  private index = 0;
  private depth = 0;
  /** What may come after the expression that is being read, for each expression around it. */
  private readonly following: string[] = [];
  /** How deep the operators in an expression nest. */
  private readonly depths = new Map<Expr, number>();

  constructor(source: Source) {
    this.source = source;
    this.tokens = tokenize(source);
  }

  parse(): Expr {
    const expr = this.expr();
    if (this.current.kind !== "end") {
      const isLast = this.ahead(1).kind === "end";
      this.fail((isLast ? extraneous : mismatched)(this.current, "<EOF>"));
    }
    return expr;
  }

  private get current(): Token {
    return this.tokens[this.index] as Token;
  }

  private ahead(count: number): Token {
    return this.tokens[Math.min(this.index + count, this.tokens.length - 1)] as Token;
  }

  private at(text: string): boolean {
    const { kind, text: found } = this.current;
    return found === text && (kind === "operator" || kind === "in");
  }

  private take(text: string): Token | undefined {
    if (!this.at(text)) return undefined;
    return this.tokens[this.index++];
  }

  /**
   * Takes a token that must come now. A token that does not belong before it is skipped; one that is merely missing is taken
   * for granted when what comes can follow it. Both are reported, so the expression is refused in the end.
   */
  private expect(text: string, canFollow: (token: Token) => boolean): Token {
    const found = this.take(text);
    if (found) return found;
    const { current } = this;
    if (isText(this.ahead(1), text)) {
      this.report(extraneous(current, `'${text}'`));
      this.index += 2;
    } else if (canFollow(current)) this.report(missing(`'${text}'`, current));
    else this.fail(mismatched(current, `'${text}'`));
    return current;
  }

  /** The end of a list of elements, which may also go on with a comma. */
  private close(text: string): void {
    if (this.take(text)) return;
    const expected = `{'${text}', ','}`;
    if (!isText(this.ahead(1), text) && !isText(this.ahead(1), ",")) this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
    this.fail();
  }

  /** Reads an expression after which one of these tokens may come. */
  private before(tokens: string, read: () => Expr): Expr {
    this.following.push(tokens);
    const expr = read();
    this.following.pop();
    return expr;
  }

  /** Whether a token can come after a whole operand here. */
  private canFollow(token: Token): boolean {
    const around = this.following.at(-1);
    if (token.kind === "end") return around === undefined;
    return isBinary(token) || (token.kind === "operator" && (around ?? "").includes(token.text));
  }

  /** Makes sure that an operand can begin here, skipping one token that is in its way. */
  private atOperand(expected = OPERAND, alsoFine: (token: Token) => boolean = () => false): void {
    if (startsOperand(this.current) || alsoFine(this.current)) return;
    const next = this.ahead(1);
    if (this.current.kind === "end" || !(startsOperand(next) || alsoFine(next))) this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
  }

  /** Reports at the current token. An empty expression has no place at all. */
  private report(message: string): void {
    this.source.report(this.source.characters.length === 0 ? -1 : this.current.offset, message);
  }

  private fail(message?: string): never {
    if (message !== undefined) this.report(message);
    throw new Abandoned("the expression is not well-formed");
  }

  private tooDeep(message: string): never {
    this.source.reportNowhere(message);
    throw new Abandoned("the expression is nested too deeply");
  }

  /** Counts one more level. What works on the tree later recurses, so this bounds all of it. */
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

  private expr(): Expr {
    if (++this.depth > MAX_DEPTH) this.tooDeep(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.or();
    const question = this.take("?");
    let result = condition;
    if (question) {
      const yes = this.before(":", () => this.or());
      this.expect(":", startsOperand);
      result = this.nesting(this.call("_?_:_", [condition, yes, this.expr()], question.offset));
    }
    this.depth -= 1;
    return result;
  }

  private or(): Expr {
    return this.logical("||", "_||_", () => this.logical("&&", "_&&_", () => this.chain(RELATIONS, () => this.sum())));
  }

  /** `a && b && c` is one call of three: it stops at the first that decides. */
  private logical(operator: string, name: string, term: () => Expr): Expr {
    const terms = [term()];
    let offset = 0;
    for (let found = this.take(operator); found; found = this.take(operator)) {
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
      const { kind, text, offset } = this.current;
      const name = kind === "operator" || kind === "in" ? operators.get(text) : undefined;
      if (name === undefined) return left;
      this.index += 1;
      left = this.nesting(this.call(name, [left, operand()], offset));
    }
  }

  private unary(): Expr {
    for (const [operator, name] of [
      ["!", "!_"],
      ["-", "-_"],
    ] as const) {
      if (!this.at(operator) || (operator === "-" && isNumber(this.ahead(1)))) continue;
      const first = this.current;
      let count = 0;
      while (this.take(operator)) count += 1;
      if (!startsOperand(this.current)) this.failUnary(operator);
      const operand = this.member();
      return count % 2 === 0 ? operand : this.call(name, [operand], first.offset);
    }
    return this.member();
  }

  private failUnary(operator: "!" | "-"): never {
    if (operator === "!") this.fail(extraneous(this.current, OPERAND));
    this.report(notViable(operator, this.current));
    this.fail(this.current.kind === "end" ? mismatched(this.current, OPERAND) : undefined);
  }

  private member(): Expr {
    let expr = this.primary();
    for (;;) {
      const dot = this.take(".");
      const bracket = dot ? undefined : this.take("[");
      if (!dot && !bracket) return expr;
      expr = this.nesting(dot ? this.select(expr, dot) : this.indexed(expr, bracket as Token));
    }
  }

  private select(operand: Expr, dot: Token): Expr {
    const isOptional = this.take("?") !== undefined;
    const name = this.current;
    if (name.kind === "escaped") this.source.report(name.offset, "unsupported syntax: '`'");
    else if (name.kind !== "identifier") return this.noField(operand, isOptional);
    this.index += 1;
    if (isOptional) return this.call("_?._", [operand, { kind: "literal", offset: name.offset, value: name.text }], dot.offset);
    const open = name.kind === "identifier" ? this.take("(") : undefined;
    if (!open) return { kind: "select", offset: dot.offset, operand, field: name.text, isTest: false };
    return this.callOrMacro(name.text, operand, this.args(), open.offset);
  }

  private noField(operand: Expr, isOptional: boolean): Expr {
    const { current } = this;
    if (isOptional) {
      this.report(mismatched(current, FIELD_NAME));
      this.fail("unsupported ident kind");
    }
    const isKeyword = current.kind === "true" || current.kind === "false" || current.kind === "null";
    this.report(isKeyword ? mismatched(current, "IDENTIFIER") : notViable(".", current));
    return followsOperand(current) ? operand : this.fail();
  }

  private indexed(operand: Expr, bracket: Token): Expr {
    const isOptional = this.take("?") !== undefined;
    this.atOperand(isOptional ? OPERAND : operandOr("?"));
    const index = this.before("]", () => this.expr());
    this.expect("]", (token) => this.canFollow(token));
    return this.call(isOptional ? "_[?_]" : "_[_]", [operand, index], bracket.offset);
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    this.atOperand(operandOr(")"), (token) => isText(token, ")"));
    if (this.take(")")) return args;
    do args.push(this.before(",)", () => this.expr()));
    while (this.take(","));
    this.expect(")", (token) => this.canFollow(token));
    return args;
  }

  private primary(): Expr {
    this.atOperand();
    const start = this.current;
    if (start.kind === "operator") {
      switch (start.text) {
        case "(":
          return this.nested();
        case "[":
          return this.list();
        case "{":
          return this.map();
        case ".":
          if (this.ahead(1).kind !== "identifier") break;
          this.index += 1;
          return this.name(start, ".");
        case "-":
          return this.literal();
        default:
      }
      return this.fail(notViable(start.text, this.ahead(1)));
    }
    if (start.kind === "identifier") return this.name(start, "");
    return this.literal();
  }

  private nested(): Expr {
    this.index += 1;
    const expr = this.before(")", () => this.expr());
    this.expect(")", (token) => this.canFollow(token));
    return expr;
  }

  private name(start: Token, dot: string): Expr {
    const { text, offset } = this.current;
    if (this.isMessage()) return this.message(dot);
    this.index += 1;
    const open = this.take("(");
    if (RESERVED.has(text)) {
      this.source.report(start.offset, `reserved identifier: ${text}`);
      if (!open) return { kind: "literal", offset, value: null };
    }
    if (open) return this.callOrMacro(dot + text, undefined, this.args(), open.offset);
    return { kind: "ident", offset, name: dot + text };
  }

  /** Whether identifiers and dots lead to a brace: `a.b.C{…}`. */
  private isMessage(): boolean {
    let count = 1;
    while (isText(this.ahead(count), ".") && this.ahead(count + 1).kind === "identifier") count += 2;
    return isText(this.ahead(count), "{");
  }

  private message(dot: string): Expr {
    let name = dot;
    while (!this.at("{")) name += (this.tokens[this.index++] as Token).text;
    const open = this.current.offset;
    this.index += 1;
    const fields: StructField[] = [];
    while (!this.at("}")) {
      const isOptional = this.take("?") !== undefined;
      const field = this.current;
      if (field.kind === "escaped") this.source.report(field.offset, "unsupported syntax: '`'");
      else if (field.kind !== "identifier") this.fail(mismatched(field, isOptional ? FIELD_NAME : FIELD_START));
      this.index += 1;
      const { offset } = this.expect(":", startsOperand);
      fields.push({ name: field.text, value: this.before(",}", () => this.expr()), isOptional, offset });
      if (!this.take(",")) break;
    }
    this.close("}");
    return { kind: "struct", offset: open, name, fields };
  }

  private list(): Expr {
    const { offset } = this.current;
    this.index += 1;
    const elements: Expr[] = [];
    const optionals = new Set<number>();
    this.atOperand(operandOr("]", ",", "?"), (token) => isText(token, "]") || isText(token, "?") || isText(token, ","));
    // An empty list may have a comma.
    if (isText(this.ahead(1), "]")) this.take(",");
    while (!this.at("]")) {
      if (this.take("?")) optionals.add(elements.length);
      elements.push(this.before(",]", () => this.expr()));
      if (!this.take(",")) break;
    }
    this.close("]");
    return { kind: "list", offset, elements, optionals };
  }

  private map(): Expr {
    const { offset } = this.current;
    this.index += 1;
    const entries: MapEntry[] = [];
    this.atOperand(operandOr("}", ",", "?"), (token) => isText(token, "}") || isText(token, "?") || isText(token, ","));
    if (isText(this.ahead(1), "}")) this.take(",");
    while (!this.at("}")) {
      const isOptional = this.take("?") !== undefined;
      const key = this.before(":", () => this.expr());
      this.expect(":", startsOperand);
      entries.push({ key, value: this.before(",}", () => this.expr()), isOptional });
      if (!this.take(",")) break;
    }
    this.close("}");
    return { kind: "map", offset, entries };
  }

  private literal(): Expr {
    const { offset } = this.current;
    const isNegative = this.take("-") !== undefined;
    const { kind, text } = this.current;
    const value = this.literalValue(kind, (isNegative ? "-" : "") + text);
    if (value === undefined) this.fail(mismatched(this.current, OPERAND));
    this.index += 1;
    if (value instanceof CelError) this.source.report(offset, value.message);
    return { kind: "literal", offset, value };
  }

  private literalValue(kind: Token["kind"], text: string): CelValue | undefined {
    switch (kind) {
      case "int":
        return wholeLiteral(text, MIN_INT, MAX_INT, "int");
      case "uint":
        return wholeLiteral(text.slice(0, -1), 0n, MAX_UINT, "uint");
      case "float": {
        const value = parseDouble(text);
        return value === undefined ? new CelError("invalid double literal") : new CelDouble(value);
      }
      case "string":
        return unescapeText(text) ?? new CelError("invalid unicode code point");
      case "bytes":
        return unescapeBytes(text.slice(1)) ?? new CelError("unable to unescape string");
      case "true":
        return true;
      case "false":
        return false;
      case "null":
        return null;
      default:
        return undefined;
    }
  }

  private call(name: string, args: Expr[], offset: number): Call {
    return { kind: "call", offset, name, target: undefined, args };
  }

  private callOrMacro(name: string, target: Expr | undefined, args: Expr[], offset: number): Expr {
    const expanded = expandMacro(name, target, args, offset);
    if (expanded === undefined) return { kind: "call", offset, name, target, args };
    if (expanded.kind !== "problem") return expanded;
    this.source.report(expanded.offset, expanded.message);
    return { kind: "literal", offset, value: null };
  }
}

const isText = (token: Token, text: string): boolean => token.kind === "operator" && token.text === text;
const isNumber = ({ kind }: Token): boolean => kind === "int" || kind === "float";

function wholeLiteral(text: string, min: bigint, max: bigint, type: "int" | "uint"): CelValue {
  const isNegative = text.startsWith("-");
  const digits = BigInt(text.replace("-", ""));
  const value = isNegative ? -digits : digits;
  if (value < min || value > max) return new CelError(`invalid ${type} literal`);
  return type === "uint" ? new CelUint(value) : intOf(value);
}
