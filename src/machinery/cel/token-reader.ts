/**
 * The reader's place among the tokens of an expression, and what is said when a token does not fit. A single token that
 * is in the way or missing is stepped over after it was reported, as the generated parser of Kubernetes does, so that
 * the reports are the same.
 */
import type { Expr } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import type { Source } from "./source.ts";
import { extraneous, isBinary, mismatched, missing, OPERAND, startsOperand } from "./syntax-errors.ts";

/** Thrown to leave the parser once what is wrong has been reported. */
export class Abandoned extends Error {}

export class TokenReader {
  private readonly source: Source;
  private readonly tokens: readonly Token[];
  private index = 0;
  /** What may come after the expression that is being read, for each expression around it. */
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

  /** Takes whatever comes now. */
  skip(): Token {
    return this.tokens[this.index++] as Token;
  }

  /** Takes this token if it comes now. */
  take(text: string): Token | undefined {
    if (!this.at(text)) return undefined;
    return this.tokens[this.index++];
  }

  /**
   * Takes a token that must come now. A token that does not belong before it is skipped; one that is merely missing is
   * taken for granted when what comes can follow it. Both are reported, so the expression is refused in the end.
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

  /** The end of a list of elements, which may also go on with a comma. */
  close(text: string): void {
    if (this.take(text)) return;
    const expected = `{'${text}', ','}`;
    if (!isText(this.ahead(1), text) && !isText(this.ahead(1), ",")) this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
    this.fail();
  }

  /** Reads an expression after which one of these tokens may come. */
  before(tokens: string, read: () => Expr): Expr {
    this.following.push(tokens);
    const expr = read();
    this.following.pop();
    return expr;
  }

  /** Whether a token can come after a whole operand here. */
  canFollow(token: Token): boolean {
    const around = this.following.at(-1);
    if (token.kind === "end") return around === undefined;
    return isBinary(token) || (token.kind === "operator" && (around ?? "").includes(token.text));
  }

  /** Makes sure that an operand can begin here, skipping one token that is in its way. */
  atOperand(expected = OPERAND, alsoFine: (token: Token) => boolean = () => false): void {
    if (startsOperand(this.current) || alsoFine(this.current)) return;
    const next = this.ahead(1);
    if (this.current.kind === "end" || !(startsOperand(next) || alsoFine(next)))
      this.fail(mismatched(this.current, expected));
    this.report(extraneous(this.current, expected));
    this.index += 1;
  }

  /** Reports at the current token. An empty expression has no place at all. */
  report(message: string): void {
    this.source.report(this.source.characters.length === 0 ? -1 : this.current.offset, message);
  }

  fail(message?: string): never {
    if (message !== undefined) this.report(message);
    throw new Abandoned("the expression is not well-formed");
  }
}

export const isText = (token: Token, text: string): boolean => token.kind === "operator" && token.text === text;
