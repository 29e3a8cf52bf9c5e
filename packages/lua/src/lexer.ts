/** Tokenizes a script as gopher-lua does: Lua 5.1 plus `goto`, positions counted in bytes. */
import { fromBytes, toBytes } from "./byte-text.ts";
import { LuaSyntaxError } from "./errors.ts";

/** `type` is the text of a keyword or symbol, or one of the four token kinds in capitals. */
export interface Token {
  type: string;
  /** The text that an error message quotes: the source text, or the value of a string. */
  text: string;
  line: number;
  column: number;
}

const KEYWORDS = new Set([
  "and",
  "break",
  "do",
  "else",
  "elseif",
  "end",
  "false",
  "for",
  "function",
  "goto",
  "if",
  "in",
  "local",
  "nil",
  "not",
  "or",
  "return",
  "repeat",
  "then",
  "true",
  "until",
  "while",
]);
const SINGLE = new Set("+*/%^#(){}];,<>=:".split(""));
const DOUBLE = new Set(["==", "~=", "<=", ">=", "::"]);
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

const isDigit = (ch: string): boolean => ch >= "0" && ch <= "9";
const isHexDigit = (ch: string): boolean => isDigit(ch) || (ch >= "a" && ch <= "f") || (ch >= "A" && ch <= "F");
const isLetter = (ch: string): boolean => (ch >= "a" && ch <= "z") || (ch >= "A" && ch <= "Z") || ch === "_";

export class Lexer {
  readonly #source: string;
  readonly #name: string;
  #at = 0;
  #line = 1;
  #column = 0;
  /** The text of the latest token that is not the end of the source: a message about the next token may quote it. */
  #lastText = "";

  constructor(source: string, name: string) {
    this.#source = toBytes(source);
    this.#name = name;
  }

  next(): Token {
    for (;;) {
      let ch = this.#take();
      while (ch === " " || ch === "\t" || ch === "\n" || ch === "\r") ch = this.#take();
      if (ch === "-" && this.#peek() === "-") {
        this.#take();
        this.#skipComment();
        continue;
      }
      const token = this.#scan(ch);
      if (token.type !== "EOF") this.#lastText = token.text;
      return token;
    }
  }

  /** An error at the current position, about the latest token. */
  error(message: string, text = this.#lastText): LuaSyntaxError {
    if (this.#at >= this.#source.length && this.#atEnd)
      return new LuaSyntaxError(`${this.#name} at EOF:   ${message}\n`);
    const position = { line: this.#line, column: this.#column };
    return new LuaSyntaxError(
      `${this.#name} line:${position.line}(column:${position.column}) near '${text}':   ${message}\n`,
      position,
    );
  }

  /** Whether the end was read, not only reached. */
  #atEnd = false;

  #peek(): string {
    return this.#source[this.#at] ?? "";
  }

  /** The next byte; "" at the end. Any line ending is "\n". */
  #take(): string {
    const ch = this.#source[this.#at];
    if (ch === undefined) {
      this.#atEnd = true;
      return "";
    }
    this.#at += 1;
    if (ch !== "\n" && ch !== "\r") {
      this.#column += 1;
      return ch;
    }
    const follower = this.#peek();
    if ((follower === "\n" || follower === "\r") && follower !== ch) this.#at += 1;
    this.#line += 1;
    this.#column = 0;
    return "\n";
  }

  #skipComment(): void {
    let ch = "-";
    if (this.#peek() === "[") {
      ch = this.#take();
      if (this.#peek() === "[" || this.#peek() === "=") {
        const body = { text: "" };
        try {
          this.#scanLongString(this.#take(), body);
        } catch (error) {
          if (error instanceof LuaSyntaxError) throw this.error("invalid multiline comment", fromBytes(body.text));
          throw error;
        }
        return;
      }
    }
    while (ch !== "\n" && ch !== "") ch = this.#take();
  }

  #scan(ch: string): Token {
    const line = this.#line;
    const column = this.#column;
    const token = (type: string, text = type): Token => ({ type, text, line, column });
    if (ch === "") return token("EOF", "");
    if (isLetter(ch)) {
      const name = this.#scanName(ch);
      return KEYWORDS.has(name) ? token(name) : token("NAME", name);
    }
    if (isDigit(ch) || (ch === "." && isDigit(this.#peek()))) return token("NUMBER", this.#scanNumber(ch));
    if (ch === '"' || ch === "'") return token("STRING", fromBytes(this.#scanString(ch)));
    if (ch === "[") {
      if (this.#peek() !== "[" && this.#peek() !== "=") return token("[");
      const body = { text: "" };
      this.#scanLongString(this.#take(), body);
      return token("STRING", fromBytes(body.text));
    }
    if (ch === ".") return this.#scanDots(token);
    if (ch === "-") return token("-");
    const pair = ch + this.#peek();
    if (DOUBLE.has(pair)) {
      this.#take();
      return token(pair);
    }
    if (SINGLE.has(ch)) return token(ch);
    throw ch === "~" ? this.error("Invalid '~' token", "~") : this.error("Invalid token", fromBytes(ch));
  }

  #scanDots(token: (type: string, text?: string) => Token): Token {
    // A lone dot has no text upstream, which shows in messages.
    if (this.#peek() !== ".") return token(".", "");
    this.#take();
    if (this.#peek() !== ".") return token("..");
    this.#take();
    return token("...");
  }

  #scanName(first: string): string {
    let name = first;
    while (isLetter(this.#peek()) || isDigit(this.#peek())) name += this.#take();
    return name;
  }

  #scanDigits(first: string): string {
    let digits = first;
    while (isDigit(this.#peek())) digits += this.#take();
    return digits;
  }

  #scanNumber(first: string): string {
    let ch = first;
    if (ch === "0") {
      if (this.#peek() === "x" || this.#peek() === "X") {
        let text = ch + this.#take();
        while (isHexDigit(this.#peek())) text += this.#take();
        if (text.length === 2) throw this.error("illegal hexadecimal number", text);
        return text;
      }
      // One leading zero is dropped; a second one makes the number octal.
      if (isDigit(this.#peek())) ch = this.#take();
    }
    let text = this.#scanDigits(ch);
    if (this.#peek() === ".") text += this.#scanDigits(this.#take());
    if (this.#peek() === "e" || this.#peek() === "E") {
      text += this.#take();
      if (this.#peek() === "-" || this.#peek() === "+") text += this.#take();
      text += this.#scanDigits(this.#take());
    }
    return text;
  }

  #scanString(quote: string): string {
    let bytes = "";
    for (let ch = this.#take(); ch !== quote; ch = this.#take()) {
      if (ch === "\n" || ch === "") throw this.error("unterminated string", fromBytes(bytes));
      bytes += ch === "\\" ? this.#scanEscape() : ch;
    }
    return bytes;
  }

  #scanEscape(): string {
    const ch = this.#take();
    if (!isDigit(ch)) return ESCAPES.get(ch) ?? ch;
    let digits = ch;
    while (digits.length < 3 && isDigit(this.#peek())) digits += this.#take();
    return String.fromCharCode(Number(digits) & 0xff);
  }

  #countEquals(first: string): { count: number; ch: string } {
    let count = 0;
    let ch = first;
    for (; ch === "="; count++) ch = this.#take();
    return { count, ch };
  }

  /** The text so far is in `body`, because an error message quotes it. */
  #scanLongString(first: string, body: { text: string }): void {
    const opening = this.#countEquals(first);
    if (opening.ch !== "[") throw this.error("invalid multiline string", fromBytes(opening.ch));
    let ch = this.#take();
    if (ch === "\n") ch = this.#take();
    for (;;) {
      if (ch === "") throw this.error("unterminated multiline string", fromBytes(body.text));
      if (ch === "]") {
        const closing = this.#countEquals(this.#take());
        if (closing.count === opening.count && closing.ch === "]") return;
        body.text += `]${"=".repeat(closing.count)}`;
        ch = closing.ch;
        continue;
      }
      body.text += ch;
      ch = this.#take();
    }
  }
}
