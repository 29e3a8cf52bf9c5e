/** Parses the subset of PromQL that the rules and the dashboard use; anything else is an error. */
export type Matcher = { label: string; op: "=" | "!=" | "=~" | "!~"; value: string };
type Aggregation = "sum" | "max" | "min" | "count" | "avg" | "topk";
type BinaryOp = "+" | "-" | "*" | "/" | ">" | "<" | ">=" | "<=" | "==" | "!=" | "and" | "or" | "unless";

export type Expression =
  | { type: "number"; value: number }
  | { type: "selector"; name: string; matchers: Matcher[]; rangeMs?: number }
  | { type: "call"; name: FunctionName; args: Expression[] }
  | { type: "aggregate"; op: Aggregation; by: string[]; without?: true; parameter?: number; of: Expression }
  | { type: "binary"; op: BinaryOp; left: Expression; right: Expression; on?: string[]; ignoring?: string[] };

const FUNCTIONS = ["rate", "increase", "changes", "histogram_quantile"] as const;
type FunctionName = (typeof FUNCTIONS)[number];
const AGGREGATIONS: readonly string[] = ["sum", "max", "min", "count", "avg", "topk"];
/** Lowest precedence first. */
const PRECEDENCE: readonly (readonly string[])[] = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", "<=", "<", ">=", ">"],
  ["+", "-"],
  ["*", "/"],
];
const TOKEN =
  /\s*(?:(\$__rate_interval|\$\w+|\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:ms|s|m|h|d)?|[a-zA-Z_:][\w:]*|"(?:[^"\\]|\\.)*"|=~|!~|==|!=|<=|>=|[-+*/<>=(){}[\],]))/y;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function parseExpression(text: string): Expression {
  const tokens: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.trimEnd().length;) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`cannot read ${text.slice(at)}`);
    tokens.push(match[1] ?? "");
  }
  const parser = new Parser(tokens);
  const expression = parser.binary(0);
  parser.end();
  return expression;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  end(): void {
    if (this.#at < this.#tokens.length)
      throw new Error(`more than an expression: ${this.#tokens.slice(this.#at).join(" ")}`);
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #take(...expected: string[]): string {
    const token = this.#peek();
    if (expected.length > 0 && !expected.includes(token))
      throw new Error(`${expected.join(" or ")} is missing before ${token || "the end"}`);
    this.#at++;
    return token;
  }

  binary(level: number): Expression {
    const ops = PRECEDENCE[level];
    if (!ops) return this.#primary();
    let left = this.binary(level + 1);
    while (ops.includes(this.#peek())) {
      const op = this.#take() as BinaryOp;
      const matching = this.#peek() === "on" || this.#peek() === "ignoring" ? { [this.#take()]: this.#names() } : {};
      left = { type: "binary", op, left, right: this.binary(level + 1), ...matching };
    }
    return left;
  }

  #names(): string[] {
    const names: string[] = [];
    this.#take("(");
    while (this.#peek() !== ")") {
      names.push(this.#take());
      if (this.#peek() === ",") this.#take();
    }
    this.#take(")");
    return names;
  }

  #primary(): Expression {
    const token = this.#take();
    if (token === "(") {
      const inner = this.binary(0);
      this.#take(")");
      return inner;
    }
    if (/^\d/.test(token)) return { type: "number", value: Number(token) };
    if (AGGREGATIONS.includes(token)) return this.#aggregate(token as Aggregation);
    if ((FUNCTIONS as readonly string[]).includes(token))
      return { type: "call", name: token as FunctionName, args: this.#args() };
    if (!/^[a-zA-Z_:]/.test(token) || this.#peek() === "(") throw new Error(`cannot read ${token}`);
    return this.#selector(token);
  }

  #args(): Expression[] {
    const args: Expression[] = [];
    this.#take("(");
    while (this.#peek() !== ")") {
      args.push(this.binary(0));
      if (this.#peek() === ",") this.#take();
    }
    this.#take(")");
    return args;
  }

  #aggregate(op: Aggregation): Expression {
    const grouping = this.#peek() === "by" || this.#peek() === "without" ? this.#take() : "by";
    const by = this.#peek() === "(" && this.#tokens[this.#at - 1] === grouping ? this.#names() : [];
    const args = this.#args();
    const of = args.at(-1);
    const parameter = args.length === 2 && args[0]?.type === "number" ? args[0].value : undefined;
    if (!of || args.length > 2) throw new Error(`${op} of nothing`);
    return { type: "aggregate", op, by, of, without: grouping === "without" ? (true as const) : undefined, parameter };
  }

  #selector(name: string): Expression {
    const matchers: Matcher[] = [];
    if (this.#peek() === "{") {
      this.#take();
      while (this.#peek() !== "}") {
        const label = this.#take();
        const op = this.#take("=", "!=", "=~", "!~") as Matcher["op"];
        matchers.push({ label, op, value: JSON.parse(this.#take()) as string });
        if (this.#peek() === ",") this.#take();
      }
      this.#take("}");
    }
    if (this.#peek() !== "[") return { type: "selector", name, matchers };
    this.#take();
    const rangeMs = durationMs(this.#take());
    this.#take("]");
    return { type: "selector", name, matchers, rangeMs };
  }
}

/** Grafana's own variables are replaced by five minutes. */
export function durationMs(text: string): number {
  if (text.startsWith("$")) return 300_000;
  const [, count = "", unit = ""] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit === "") throw new Error(`no duration: ${text}`);
  return Number(count) * (UNITS[unit] ?? 0);
}

export function selectorsOf(expression: Expression): Extract<Expression, { type: "selector" }>[] {
  switch (expression.type) {
    case "selector":
      return [expression];
    case "call":
      return expression.args.flatMap(selectorsOf);
    case "aggregate":
      return selectorsOf(expression.of);
    case "binary":
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
    default:
      return [];
  }
}
