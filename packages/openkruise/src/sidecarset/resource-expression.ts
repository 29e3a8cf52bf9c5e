/**
 * The expression language in which a SidecarSet computes container resources: `max(cpu*30%, 200m)`. Numbers,
 * percentages, quantities, one variable, the four operations, `max` and `min` of two.
 *
 * As upstream, an undefined part makes the whole expression undefined, the last error is reported, and an invalid
 * number counts as zero.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  quantityMilliValue,
  quantityOfMilli,
  quantityProblem,
  subtractQuantities,
  tryParseQuantity,
  type Quantity,
} from "@flotilla/apimachinery";

export type ExpressionValue = number | Quantity;
export type ExpressionResult = { value: ExpressionValue } | { problem: string };

/** Deeper than handwritten expressions, and shallow enough for the stack. */
const MAX_DEPTH = 200;
const MAX_LENGTH = 4096;
const UNITS = new Set(["m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"]);

/** Evaluates an expression; the value is never negative. Variable names are in lower case. */
export function evaluateExpression(
  text: string,
  variables: Readonly<Record<string, ExpressionValue>> = {},
): ExpressionResult {
  return text.length > MAX_LENGTH
    ? { problem: `an expression must have at most ${MAX_LENGTH} characters` }
    : new Calculation(text, variables).run();
}

/** The quantity for this value. A plain number is in thousandths, as it is when combined with a quantity. */
export function expressionQuantity(value: ExpressionValue): Quantity {
  return typeof value === "number" ? quantityOfMilli(toInt64(value * 1000)) : value;
}

type Token = { type: "number" | "quantity" | "word"; text: string } | { type: "end" } | { type: "sign"; text: string };

class SyntaxProblem extends Error {}

class Calculation {
  readonly #tokens: Tokens;
  readonly #variables: Readonly<Record<string, ExpressionValue>>;
  #problem: string | undefined;
  #next: Token;
  #depth = 0;

  constructor(text: string, variables: Readonly<Record<string, ExpressionValue>>) {
    this.#variables = variables;
    this.#tokens = new Tokens(text);
    this.#next = this.#tokens.read();
  }

  run(): ExpressionResult {
    try {
      const value = this.#sum();
      if (this.#next.type !== "end") this.#unexpected();
      if (value === undefined) return { problem: this.#problem ?? "no result from parser" };
      const isNegative = typeof value === "number" ? value < 0 : value.mantissa < 0n;
      return isNegative
        ? { problem: `calculation result is negative: ${typeof value === "number" ? value : formatQuantity(value)}` }
        : { value };
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      return { problem: this.#problem ?? error.message };
    }
  }

  #unexpected(): never {
    throw new SyntaxProblem(`parse error: syntax error at ${this.#tokens.place}`);
  }

  #advance(): Token {
    const taken = this.#next;
    this.#next = this.#tokens.read();
    return taken;
  }

  #takes(sign: string): boolean {
    if (this.#next.type !== "sign" || this.#next.text !== sign) return false;
    this.#advance();
    return true;
  }

  #fail(problem: string): undefined {
    this.#problem = problem;
    return undefined;
  }

  #sum(): ExpressionValue | undefined {
    let left = this.#product();
    for (;;) {
      if (this.#takes("+")) left = combine(left, this.#product(), (a, b) => a + b, addQuantities);
      else if (this.#takes("-")) left = combine(left, this.#product(), (a, b) => a - b, subtractQuantities);
      else return left;
    }
  }

  #product(): ExpressionValue | undefined {
    let left = this.#factor();
    for (;;) {
      if (this.#takes("*")) left = this.#multiply(left, this.#factor());
      else if (this.#takes("/")) left = this.#divide(left, this.#factor());
      else return left;
    }
  }

  #multiply(left: ExpressionValue | undefined, right: ExpressionValue | undefined): ExpressionValue | undefined {
    if (left === undefined || right === undefined) return undefined;
    if (typeof left === "number")
      return typeof right === "number" ? left * right : scaled(right, (milli) => milli * left);
    return typeof right === "number"
      ? scaled(left, (milli) => milli * right)
      : this.#fail("multiplication of two quantities");
  }

  #divide(left: ExpressionValue | undefined, right: ExpressionValue | undefined): ExpressionValue | undefined {
    if (left === undefined || right === undefined) return undefined;
    if (typeof right !== "number") return this.#fail("division by quantity");
    if (right === 0) return this.#fail("division by zero");
    return typeof left === "number" ? left / right : scaled(left, (milli) => milli / right);
  }

  #factor(): ExpressionValue | undefined {
    if (++this.#depth > MAX_DEPTH) throw new SyntaxProblem(`parse error: nested too deeply at ${this.#tokens.place}`);
    try {
      return this.#atom();
    } finally {
      this.#depth--;
    }
  }

  #atom(): ExpressionValue | undefined {
    if (this.#takes("(")) {
      const value = this.#sum();
      return this.#takes(")") ? value : this.#unexpected();
    }
    if (this.#takes("-")) {
      const value = this.#factor();
      return value === undefined || typeof value === "number"
        ? value && -value
        : { ...value, mantissa: -value.mantissa };
    }
    if (this.#next.type === "end" || this.#next.type === "sign") return this.#unexpected();
    const { type, text } = this.#advance() as Extract<Token, { type: "number" | "quantity" | "word" }>;
    if (type === "number") return readNumber(text);
    if (type === "quantity") return tryParseQuantity(text) ?? this.#fail(quantityProblem(text));
    if (this.#takes("(")) return this.#call(text);
    const name = text.toLowerCase();
    return Object.hasOwn(this.#variables, name) ? this.#variables[name] : this.#fail(`undefined variable: ${name}`);
  }

  #call(name: string): ExpressionValue | undefined {
    const args = [this.#sum()];
    if (this.#takes(",")) args.push(this.#sum());
    if (!this.#takes(")")) this.#unexpected();
    const called = name.toLowerCase();
    if (called !== "max" && called !== "min") return this.#fail(`unknown function: ${name}`);
    if (args.length !== 2) return this.#fail(`${called} function requires exactly 2 arguments, got ${args.length}`);
    const [left, right] = args;
    const sign = called === "max" ? 1 : -1;
    return combine(
      left,
      right,
      (a, b) => (sign * a >= sign * b ? a : b),
      (a, b) => (sign * compareQuantities(a, b) >= 0 ? a : b),
    );
  }
}

/** A binary operation: one quantity operand makes the result a quantity. */
function combine(
  left: ExpressionValue | undefined,
  right: ExpressionValue | undefined,
  ofNumbers: (a: number, b: number) => number,
  ofQuantities: (a: Quantity, b: Quantity) => Quantity,
): ExpressionValue | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (typeof left === "number" && typeof right === "number") return ofNumbers(left, right);
  return ofQuantities(expressionQuantity(left), expressionQuantity(right));
}

/** Whole thousandths, truncated. */
const scaled = (quantity: Quantity, change: (milli: number) => number): Quantity =>
  quantityOfMilli(toInt64(change(Number(quantityMilliValue(quantity)))), quantity.format);

const MIN_INT64 = -(2n ** 63n);

/** Out-of-range values become the smallest int64, as on common processors. */
function toInt64(value: number): bigint {
  return Number.isFinite(value) && Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : MIN_INT64;
}

function readNumber(text: string): number {
  const isPercent = text.endsWith("%");
  const digits = isPercent ? text.slice(0, -1) : text;
  if (!/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits)) return 0;
  return isPercent ? Number(digits) / 100 : Number(digits);
}

/** Reads bytes, as upstream does: a non-ASCII letter counts as several characters. */
class Tokens {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  }

  /** The current position; line and column count from one. */
  get place(): string {
    const lines = this.#text.slice(0, this.#position).split("\n");
    return `line ${lines.length}, col ${(lines.at(-1)?.length ?? 0) + 1}`;
  }

  read(): Token {
    this.#take(/[\s\u0085]*/y);
    const first = this.#text[this.#position];
    if (first === undefined || first === "\0") return { type: "end" };
    if (/[\d.]/.test(first)) return this.#number();
    const word = this.#take(/\p{L}[\p{L}\d_]*/uy);
    if (word !== "") return { type: "word", text: word };
    this.#position++;
    return { type: "sign", text: first };
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#position += found.length;
    return found;
  }

  /**
   * Digits with one point, one exponent and one percent sign among them, then unit letters. Invalid text is still one
   * token.
   */
  #number(): Token {
    const seen = new Set<string>();
    let text = "";
    let mayHaveSign = false;
    for (;;) {
      const next = this.#text[this.#position] ?? "";
      const isExponent = next === "e" || next === "E";
      if (/\d/.test(next)) mayHaveSign = false;
      else if (next === "." && seen.size === 0) seen.add(".");
      else if (isExponent && !seen.has("e") && !seen.has("%")) {
        seen.add("e");
        mayHaveSign = true;
      } else if ((next === "+" || next === "-") && mayHaveSign) mayHaveSign = false;
      else if (next === "%" && !seen.has("%")) seen.add("%");
      else break;
      text += next;
      this.#position++;
    }
    if (!mayHaveSign && !/[eE]/.test(this.#text[this.#position] ?? "")) text += this.#take(/\p{L}*/uy);
    const unit = /[^\d.eE+-].*$/.exec(text)?.[0] ?? "";
    return { type: UNITS.has(unit) ? "quantity" : "number", text };
  }
}
