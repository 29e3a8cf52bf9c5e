/**
 * JSON paths in kubectl's dialect, compiled once, for printer columns and scale paths: `.spec.replicas`,
 * `.metadata.labels['a\.b']`, `.status.conditions[?(@.type=="Ready")].status`, `[*]`, `[0]`, `[-1]`, `[0:2]`.
 */
import { badRequest } from "./status.ts";

export type JsonPath = (object: unknown) => unknown[];
type Step = (value: unknown, found: unknown[]) => void;

/** Paths come from CustomResourceDefinitions. */
const MAX_LENGTH = 4096;
const MAX_STEPS = 64;

/** Throws a bad request when the path cannot be understood. The function answers all values that the path leads to. */
export function compileJsonPath(path: string): JsonPath {
  if (path.length > MAX_LENGTH) throw badRequest(`the JSON path is longer than ${MAX_LENGTH} characters`);
  const steps = new PathReader(path).steps();
  if (steps.length > MAX_STEPS) throw badRequest(`the JSON path ${JSON.stringify(path)} has more than ${MAX_STEPS} steps`);
  return (object) => {
    let values: unknown[] = [object];
    for (const step of steps) {
      const found: unknown[] = [];
      for (const value of values) step(value, found);
      if (found.length === 0) return found;
      values = found;
    }
    return values;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const field =
  (name: string): Step =>
  (value, found) => {
    if (isRecord(value) && Object.hasOwn(value, name) && value[name] !== undefined) found.push(value[name]);
  };

const everyValue: Step = (value, found) => {
  if (Array.isArray(value)) found.push(...(value as unknown[]));
  else if (isRecord(value)) found.push(...Object.values(value));
};

const slice =
  (from: number | undefined, to: number | undefined): Step =>
  (value, found) => {
    if (Array.isArray(value)) found.push(...(value as unknown[]).slice(from, to));
  };

const index =
  (at: number): Step =>
  (value, found) => {
    if (!Array.isArray(value)) return;
    const item: unknown = value.at(at);
    if (item !== undefined) found.push(item);
  };

const filter =
  (path: JsonPath, matches: (value: unknown) => boolean): Step =>
  (value, found) => {
    if (Array.isArray(value)) for (const item of value as unknown[]) if (path(item).some(matches)) found.push(item);
  };

const COMPARISONS: Record<string, (a: string | number | boolean, b: string | number | boolean) => boolean> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

class PathReader {
  private readonly path: string;
  private readonly text: string;
  private position = 0;

  constructor(path: string) {
    this.path = path;
    const trimmed = path.trim();
    const inner = trimmed.startsWith("{") && trimmed.endsWith("}") ? trimmed.slice(1, -1) : trimmed;
    this.text = inner.startsWith("$") || inner.startsWith("@") ? inner.slice(1) : inner;
  }

  private error(why: string): Error {
    return badRequest(`cannot use the JSON path ${JSON.stringify(this.path)}: ${why}`);
  }

  steps(): Step[] {
    const steps: Step[] = [];
    while (this.position < this.text.length) {
      const character = this.text[this.position];
      if (character === "[") steps.push(this.bracket());
      else if (character === ".") this.dot(steps);
      else if (this.position === 0) steps.push(this.name());
      else throw this.error(`${JSON.stringify(character)} is not expected`);
    }
    return steps;
  }

  private dot(steps: Step[]): void {
    this.position += 1;
    if (this.text[this.position] === ".") throw this.error("recursive descent is not supported");
    if (this.text[this.position] === "[" || (this.position === this.text.length && steps.length === 0)) return;
    steps.push(this.name());
  }

  /** A name up to the next dot or bracket; a backslash takes the next character as it is. */
  private name(): Step {
    let name = "";
    for (; this.position < this.text.length; this.position++) {
      const character = this.text[this.position] as string;
      if (character === "." || character === "[") break;
      if (character !== "\\") name += character;
      else name += this.text[++this.position] ?? "";
    }
    if (name === "") throw this.error("a name is missing after a dot");
    return name === "*" ? everyValue : field(name);
  }

  private bracket(): Step {
    const close = this.closing();
    const inner = this.text.slice(this.position + 1, close).trim();
    this.position = close + 1;
    if (inner === "*") return everyValue;
    const quoted = /^(['"])(.*)\1$/s.exec(inner);
    if (quoted) return field((quoted[2] ?? "").replaceAll(/\\(.)/gs, "$1"));
    if (/^-?\d{1,9}$/.test(inner)) return index(Number(inner));
    const range = /^(-?\d{1,9})?:(-?\d{1,9})?$/.exec(inner);
    if (range) return slice(range[1] === undefined ? undefined : Number(range[1]), range[2] === undefined ? undefined : Number(range[2]));
    const condition = /^\?\((.*)\)$/s.exec(inner);
    if (condition) return this.condition((condition[1] ?? "").trim());
    throw this.error(`[${inner}] is not supported`);
  }

  /** The bracket that closes the one at hand, past quoted text and brackets inside. */
  private closing(): number {
    let depth = 0;
    let quote = "";
    for (let at = this.position; at < this.text.length; at++) {
      const character = this.text[at] as string;
      if (character === "\\") at += 1;
      else if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === "'" || character === '"') quote = character;
      else if (character === "[") depth += 1;
      else if (character === "]" && --depth === 0) return at;
    }
    throw this.error("a bracket is not closed");
  }

  private condition(text: string): Step {
    const match = /^(@[^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/s.exec(text);
    if (!match) throw this.error(`the condition ${JSON.stringify(text)} is not supported`);
    const path = compileJsonPath(match[1] ?? "");
    const compare = match[2] === undefined ? undefined : COMPARISONS[match[2]];
    if (!compare) return filter(path, () => true);
    const wanted = this.literal((match[3] ?? "").trim());
    return filter(path, (value) => typeof value === typeof wanted && compare(value as string | number | boolean, wanted));
  }

  private literal(text: string): string | number | boolean {
    const quoted = /^(['"])(.*)\1$/s.exec(text);
    if (quoted) return (quoted[2] ?? "").replaceAll(/\\(.)/gs, "$1");
    if (text === "true" || text === "false") return text === "true";
    if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
    throw this.error(`${JSON.stringify(text)} is no value to compare with`);
  }
}
