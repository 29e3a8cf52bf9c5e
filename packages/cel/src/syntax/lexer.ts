/**
 * Splits an expression into tokens. The longest matching token wins; unmatched input is reported and skipped, so that
 * the parser can report further errors.
 */
import type { Source } from "./source.ts";

type TokenKind =
  | "identifier"
  | "escaped"
  | "int"
  | "uint"
  | "float"
  | "string"
  | "bytes"
  | "operator"
  | "true"
  | "false"
  | "null"
  | "in"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Code points from the start of the expression. */
  readonly offset: number;
}

const OPERATORS = [
  "==",
  "!=",
  "<=",
  ">=",
  "&&",
  "||",
  "<",
  ">",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  ".",
  ",",
  "-",
  "!",
  "?",
  ":",
  "+",
  "*",
  "/",
  "%",
];
const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
  ["in", "in"],
]);
/** Words that cannot be identifiers: keywords, and words reserved for future use. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "false",
  "for",
  "function",
  "if",
  "import",
  "in",
  "let",
  "loop",
  "package",
  "namespace",
  "null",
  "return",
  "true",
  "var",
  "void",
  "while",
]);

const SKIPPED = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPED = /`[A-Za-z0-9_.\-/ ]+`/y;
const FLOAT = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const INTEGER = /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y;
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
// Longer quotes first: `""` starts both an empty string and a triple-quoted string.
const TEXT = new RegExp(
  [
    String.raw`[rR]"""[^]*?"""`,
    String.raw`[rR]'''[^]*?'''`,
    `"""(?:${ESCAPE}|[^\\\\])*?"""`,
    `'''(?:${ESCAPE}|[^\\\\])*?'''`,
    String.raw`[rR]"[^"\n\r]*"`,
    String.raw`[rR]'[^'\n\r]*'`,
    `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
    `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
  ].join("|"),
  "y",
);
/** The longest valid prefix of a malformed string. */
const BROKEN_ESCAPE = String.raw`\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?`;
const BROKEN_TEXT = new RegExp(
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*(?:${BROKEN_ESCAPE})?|'(?:${ESCAPE}|[^\\\\'\\n\\r])*(?:${BROKEN_ESCAPE})?`,
  "y",
);

export function tokenize(source: Source): Token[] {
  return new Lexer(source).run();
}

class Lexer {
  private readonly source: Source;
  private readonly text: string;
  private position = 0;
  private offset = 0;
  private readonly tokens: Token[] = [];

  constructor(source: Source) {
    this.source = source;
    this.text = source.text;
  }

  run(): Token[] {
    for (;;) {
      const skipped = this.match(SKIPPED);
      if (skipped) this.advance(skipped);
      if (this.position >= this.text.length) break;
      if (!this.next()) this.skipBroken();
    }
    this.tokens.push({ kind: "end", text: "<EOF>", offset: this.offset });
    return this.tokens;
  }

  private next(): boolean {
    return this.literal() || this.word() || this.operator();
  }

  private literal(): boolean {
    const isBytes = /[bB]/.test(this.text[this.position] ?? "");
    const text = this.match(TEXT, isBytes ? 1 : 0);
    if (text !== undefined)
      return this.push(isBytes ? "bytes" : "string", (isBytes ? (this.text[this.position] ?? "") : "") + text);
    const float = this.match(FLOAT);
    const integer = this.match(INTEGER);
    if (float !== undefined && float.length > (integer?.length ?? 0)) return this.push("float", float);
    return integer !== undefined && this.push(/[uU]$/.test(integer) ? "uint" : "int", integer);
  }

  private word(): boolean {
    const word = this.match(IDENTIFIER);
    if (word !== undefined) return this.push(KEYWORDS.get(word) ?? "identifier", word);
    const escaped = this.match(ESCAPED);
    return escaped !== undefined && this.push("escaped", escaped);
  }

  private operator(): boolean {
    const found = OPERATORS.find((operator) => this.text.startsWith(operator, this.position));
    return found !== undefined && this.push("operator", found);
  }

  private skipBroken(): void {
    const start = this.position;
    const read = this.match(BROKEN_TEXT) ?? this.match(/[&|=`]/y) ?? "";
    const after = this.text.codePointAt(start + read.length);
    const broken = read + (after === undefined ? "" : String.fromCodePoint(after));
    this.source.report(this.offset, `Syntax error: token recognition error at: '${visible(broken)}'`);
    this.advance(broken);
  }

  private match(pattern: RegExp, ahead = 0): string | undefined {
    pattern.lastIndex = this.position + ahead;
    return pattern.exec(this.text)?.[0];
  }

  private push(kind: TokenKind, text: string): true {
    this.tokens.push({ kind, text, offset: this.offset });
    this.advance(text);
    return true;
  }

  private advance(text: string): void {
    this.position += text.length;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0xd800 && unit <= 0xdbff) index += 1;
      this.offset += 1;
    }
  }
}

/** Line breaks and tabs as messages show them. */
export const visible = (text: string): string =>
  text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
