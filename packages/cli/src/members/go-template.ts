/**
 * The part of Go's text/template that `kubectl get -o go-template=` is used with: fields, variables, pipelines, `if`,
 * `with`, `range`, `else`, and the functions below. Everything else is rejected. Pure.
 */
import { isObject, UsageError } from "@flotilla/base";

type Value = unknown;

interface Scope {
  dot: Value;
  /** `$` and declared variables; inner blocks see the outer ones. */
  variables: Map<string, Value>;
}

type Expression = (scope: Scope) => Value;
type Node = (scope: Scope) => string;

const FUNCTIONS: Readonly<Record<string, (...args: Value[]) => Value>> = {
  and: (...args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1),
  or: (...args) => args.find(isTrue) ?? args.at(-1),
  not: (value) => !isTrue(value),
  len: (value) => (isObject(value) ? Object.keys(value).length : ((value as { length?: number })?.length ?? 0)),
  index: (value, ...keys) => keys.reduce((at: Value, key) => fieldOf(at, String(key)), value),
  print: (...args) => args.map(textOf).join(""),
  println: (...args) => `${args.map(textOf).join(" ")}\n`,
  printf: (format, ...args) => printf(String(format), args),
  eq: (first, ...others) => others.some((other) => other === first),
  ne: (a, b) => a !== b,
  lt: (a, b) => (a as number) < (b as number),
  le: (a, b) => (a as number) <= (b as number),
  gt: (a, b) => (a as number) > (b as number),
  ge: (a, b) => (a as number) >= (b as number),
  exists: (value, ...keys) => keys.reduce((at: Value, key) => fieldOf(at, String(key)), value) !== undefined,
  base64decode: (text) => Buffer.from(String(text), "base64").toString("utf8"),
};
const BLOCKS = new Set(["if", "with", "range"]);
/** An action with its trim markers; strings may contain braces. */
const ACTION = /\{\{(- )?((?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`}]|\}(?!\}))*?)( -)?\}\}/g;
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|`[^`]*`|:=|[()|,]|\$?(?:\.?[\w-]+)+|\$|\.|-?\d+(?:\.\d+)?)/y;
const MAX_DEPTH = 32;

/** Throws `UsageError` for an invalid or unsupported template. */
export function compileGoTemplate(template: string): (object: unknown) => string {
  const parts = new Parts(template);
  const nodes = readBlock(parts, 0);
  if (parts.action) throw new UsageError(`go-template: '{{${parts.action}}}' ends no block`);
  return (object) => {
    const scope = { dot: object, variables: new Map([["$", object]]) };
    return nodes.map((node) => node(scope)).join("");
  };
}

/** Text and actions, one after the other. */
class Parts {
  readonly #parts: { text?: string; action?: string }[] = [];
  /** The action that ended the last block. */
  action: string | undefined;

  constructor(template: string) {
    let [at, trims] = [0, false];
    for (const { index, 0: whole, 1: before, 2: action = "", 3: after } of template.matchAll(ACTION)) {
      let text = template.slice(at, index);
      if (trims) text = text.trimStart();
      if (before) text = text.trimEnd();
      if (text !== "") this.#parts.push({ text });
      if (!action.trim().startsWith("/*")) this.#parts.push({ action: action.trim() });
      [at, trims] = [index + whole.length, after !== undefined];
    }
    const rest = template.slice(at);
    if (rest.includes("{{")) throw new UsageError(`go-template: an action is not closed: ${rest.slice(0, 40)}`);
    if (rest !== "") this.#parts.push({ text: trims ? rest.trimStart() : rest });
  }

  next(): { text?: string; action?: string } | undefined {
    return this.#parts.shift();
  }
}

/** Up to `end` or `else`, which is then in `parts.action`. */
function readBlock(parts: Parts, depth: number): Node[] {
  if (depth > MAX_DEPTH) throw new UsageError(`go-template: blocks are nested deeper than ${MAX_DEPTH}`);
  const nodes: Node[] = [];
  parts.action = undefined;
  for (let part; (part = parts.next());) {
    const { text, action } = part;
    if (text !== undefined) nodes.push(() => text);
    if (action === undefined) continue;
    const [word = ""] = action.split(/\s+/, 1);
    if (word === "end" || word === "else") {
      parts.action = action;
      return nodes;
    }
    nodes.push(BLOCKS.has(word) ? readControl(word, action.slice(word.length), parts, depth) : readAction(action));
  }
  if (depth > 0) throw new UsageError("go-template: a block has no {{end}}");
  return nodes;
}

function readControl(word: string, head: string, parts: Parts, depth: number): Node {
  const { names, value } = readDeclaration(head);
  const body = readBlock(parts, depth + 1);
  const otherwise = readElse(parts, depth);
  const run = (nodes: readonly Node[], scope: Scope): string => nodes.map((node) => node(scope)).join("");
  if (word === "range") {
    return (scope) => {
      const entries = entriesOf(value(scope));
      if (entries.length === 0) return run(otherwise, scope);
      const [second, first] = [names.at(-1), names.length > 1 ? names[0] : undefined];
      return entries
        .map(([key, dot]) => run(body, { dot, variables: declared(scope, [first, key], [second, dot]) }))
        .join("");
    };
  }
  return (scope) => {
    const dot = value(scope);
    const inner = { dot: word === "with" ? dot : scope.dot, variables: declared(scope, [names[0], dot]) };
    return isTrue(dot) ? run(body, inner) : run(otherwise, scope);
  };
}

/** `{{else}}` and `{{else if …}}`, up to the `{{end}}` of the block. */
function readElse(parts: Parts, depth: number): Node[] {
  const { action = "" } = parts;
  parts.action = undefined;
  if (action === "end") return [];
  const rest = action.slice("else".length).trim();
  if (rest !== "") {
    const [word = ""] = rest.split(/\s+/, 1);
    return [readControl(word, rest.slice(word.length), parts, depth)];
  }
  const nodes = readBlock(parts, depth + 1);
  if (parts.action !== "end") throw new UsageError("go-template: a block has two {{else}}");
  parts.action = undefined;
  return nodes;
}

function readAction(action: string): Node {
  const { names, value } = readDeclaration(action);
  if (names.length === 0) return (scope) => textOf(value(scope));
  return (scope) => {
    for (const name of names) scope.variables.set(name, value(scope));
    return "";
  };
}

/** `$key, $value := pipeline`, or a pipeline alone. */
function readDeclaration(text: string): { names: string[]; value: Expression } {
  const [, declaration, pipeline = ""] = /^\s*((?:\$\w+\s*,\s*)?\$\w+\s*:=)?\s*([^]*)$/.exec(text) ?? [];
  const names = declaration?.match(/\$\w+/g) ?? [];
  const tokens = tokensOf(pipeline);
  const value = readPipeline(tokens, text);
  if (tokens.length > 0) throw new UsageError(`go-template: unexpected '${tokens[0] ?? ""}' in {{${text.trim()}}}`);
  return { names, value };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ""; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) throw new UsageError(`go-template: cannot read '${text.slice(at).trim()}'`);
    tokens.push(token);
  }
  return tokens;
}

/** `a | f b` is `f b a`. */
function readPipeline(tokens: string[], text: string): Expression {
  let value = readCall(tokens, text);
  while (tokens[0] === "|") {
    tokens.shift();
    value = readCall(tokens, text, value);
  }
  return value;
}

function readCall(tokens: string[], text: string, last?: Expression): Expression {
  const [word] = tokens;
  if (word === undefined) throw new UsageError(`go-template: {{${text.trim()}}} has no value`);
  const called = Object.hasOwn(FUNCTIONS, word) ? FUNCTIONS[word] : undefined;
  if (!called) {
    if (last) throw new UsageError(`go-template: '${word}' is not a function; there are ${names()}`);
    return readOperand(tokens, text);
  }
  tokens.shift();
  const operands: Expression[] = [];
  while (tokens.length > 0 && tokens[0] !== "|" && tokens[0] !== ")") operands.push(readOperand(tokens, text));
  if (last) operands.push(last);
  return (scope) => called(...operands.map((operand) => operand(scope)));
}

const names = (): string => Object.keys(FUNCTIONS).toSorted().join(", ");

function readOperand(tokens: string[], text: string): Expression {
  const token = tokens.shift() ?? "";
  if (token === "(") {
    const value = readPipeline(tokens, text);
    if (tokens.shift() !== ")") throw new UsageError(`go-template: a parenthesis is not closed in {{${text.trim()}}}`);
    return value;
  }
  if (token.startsWith('"')) {
    const parsed = JSON.parse(token) as string;
    return () => parsed;
  }
  if (token.startsWith("`")) return () => token.slice(1, -1);
  if (/^-?\d/.test(token)) return () => Number(token);
  if (token === "true" || token === "false") return () => token === "true";
  if (token === "nil") return () => undefined;
  if (token.startsWith("$")) {
    const [name = "$", ...path] = token.split(".");
    return (scope) => path.reduce(fieldOf, scope.variables.get(name));
  }
  if (token.startsWith(".")) {
    const path = token.split(".").filter((part) => part !== "");
    return ({ dot }) => path.reduce(fieldOf, dot);
  }
  throw new UsageError(`go-template: '${token}' is not a function; there are ${names()}`);
}

function declared(scope: Scope, ...entries: readonly (readonly [string | undefined, Value])[]): Map<string, Value> {
  const variables = new Map(scope.variables);
  for (const [name, value] of entries) if (name !== undefined) variables.set(name, value);
  return variables;
}

/** Objects in the order of their keys, as Go's maps. */
function entriesOf(value: Value): [Value, Value][] {
  if (Array.isArray(value)) return value.map((item, index): [Value, Value] => [index, item]);
  return isObject(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : [];
}

function fieldOf(value: Value, name: string): Value {
  if (Array.isArray(value)) return value[Number(name)];
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** As Go prints values. */
function textOf(value: Value): string {
  if (value === undefined || value === null) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(textOf).join(" ")}]`;
  return isObject(value)
    ? `map[${entriesOf(value)
        .map(([key, item]) => `${String(key)}:${textOf(item)}`)
        .join(" ")}]`
    : `${value as string | number | boolean}`;
}

/** `%s`, `%v`, `%d`, `%q`, `%t` and `%%`, with a width. */
function printf(format: string, args: readonly Value[]): string {
  let next = 0;
  return format.replaceAll(/%(-?)(\d*)([svdqt%])/g, (_, minus: string, width: string, verb: string) => {
    if (verb === "%") return "%";
    const value = args[next++];
    const text = verb === "q" ? JSON.stringify(textOf(value)) : textOf(value);
    return minus ? text.padEnd(Number(width)) : text.padStart(Number(width));
  });
}
