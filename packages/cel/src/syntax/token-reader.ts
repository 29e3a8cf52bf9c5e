/**
 * The parser's position in the tokens of an expression, and the errors for unexpected tokens. A single extraneous or
 * missing token is skipped after it is reported, as Kubernetes' generated parser does, so that the reports are the
 * same.
 */
import type { Expr } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import type { Source } from "./source.ts";
import { extraneous, isBinary, mismatched, missing, OPERAND, startsOperand } from "./syntax-errors.ts";

/** Thrown to leave the parser once the error has been reported. */
export class Abandoned extends Error {}

export class TokenReader {
  private readonly source: Source;
  private readonly tokens: readonly Token[];
  private index = 0;
  /** The tokens that may follow the current expression, for each enclosing expression. */
  private readonly following: string[] = [];

  constructor(source: Source) {
    this.source = source;
    this.tokens = tokenize(source);
  }

  get current(): Token {
    return this.tokens[this.index] as Token;
  }

  ahead(count: number): Token {
    return this.tokens[Math.min(this.index + count, this.tokens.length - 1)] as Token;
  }

  at(text: string): boolean {
    const { kind, text: found } = this.current;
    return found === text && (kind === "operator" || kind === "in");
  }

  /** Consumes the next token. */
  skip(): Token {
    return this.tokens[this.index++] as Token;
  }

  /** Consumes the next token if it is this one. */
  take(text: string): Token | undefined {
    if (!this.at(text)) return undefined;
    return this.tokens[this.index++];
  }

  /**
   * Consumes a required token. An extraneous token before it is skipped; a missing one is assumed when the next token
   * can follow it. Both are reported, so the expression is rejected in the end.
   */
  expect(text: string, canFollow: (token: Token) => boolean): Token {
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

  /** The end of a list of elements, where a comma may also continue the list. */
  close(text: string): void {
    if (this.take(text)) return;
    const expected = `{'${text}', ','}`;
    if (!isText(this.ahead(1), text) && !isText(this.ahead(1), ",")) this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
    this.fail();
  }

  /** Parses an expression that one of these tokens may follow. */
  before(tokens: string, read: () => Expr): Expr {
    this.following.push(tokens);
    const expr = read();
    this.following.pop();
    return expr;
  }

  /** Reports whether a token can follow a complete operand here. */
  canFollow(token: Token): boolean {
    const around = this.following.at(-1);
    if (token.kind === "end") return around === undefined;
    return isBinary(token) || (token.kind === "operator" && (around ?? "").includes(token.text));
  }

  /** Ensures that an operand can start here, skipping one extraneous token. */
  atOperand(expected = OPERAND, alsoFine: (token: Token) => boolean = () => false): void {
    if (startsOperand(this.current) || alsoFine(this.current)) return;
    const next = this.ahead(1);
    if (this.current.kind === "end" || !(startsOperand(next) || alsoFine(next)))
      this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
  }

  /** Reports at the current token. An empty expression has no position. */
  report(message: string): void {
    this.source.report(this.source.characters.length === 0 ? -1 : this.current.offset, message);
  }

  fail(message?: string): never {
    if (message !== undefined) this.report(message);
    throw new Abandoned("the expression is not well-formed");
  }
}

export const isText = (token: Token, text: string): boolean => token.kind === "operator" && token.text === text;
