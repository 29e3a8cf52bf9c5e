/** Parses a JSON path into its steps, character by character, with the behaviour of kubectl's parser. */
import { NAMED_ESCAPES } from "./unescape.ts";
import { badRequest } from "../status.ts";

export type Node =
  | { readonly type: "field"; readonly name: string }
  | { readonly type: "constant"; readonly value: string | number | boolean }
  | { readonly type: "wildcard" }
  | { readonly type: "recursive" }
  | {
      readonly type: "range";
      readonly from?: number;
      readonly to?: number;
      readonly isSingle: boolean;
      readonly step?: number;
    }
  | { readonly type: "union"; readonly branches: readonly (readonly Node[])[] }
  | {
      readonly type: "filter";
      readonly left: readonly Node[];
      readonly operator: string;
      readonly right: readonly Node[];
    };

/** Characters that end a name, unless escaped with a backslash. */
const TERMINATORS: ReadonlySet<string> = new Set([" ", "\t", "\r", "\n", ".", ",", "[", "]", "$", "@", "{", "}"]);
const KEY = /^'([^']*)'$/;
const RANGE = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/;
const NUMBER = /[+-]?[\d.]*/y;
const WORD = /[\p{L}\p{Nd}_]/u;

/** The steps of a path; enclosing braces are allowed. */
export function readPath(path: string): Node[] {
  const text = path.startsWith("{") && path.endsWith("}") ? path.slice(1, -1) : path;
  return new Reader(text, path).nodes();
}

class Reader {
  readonly #text: string;
  /** Shown in errors. */
  readonly #whole: string;
  readonly #nodes: Node[] = [];
  #at = 0;

  constructor(text: string, whole: string) {
    this.#text = text;
    this.#whole = whole;
  }

  nodes(): Node[] {
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith("[?(", this.#at)) this.#filter();
      else if (this.#text.startsWith("..", this.#at)) this.#recursive();
      else this.#one(this.#text[this.#at] as string);
    }
    return this.#nodes;
  }

  #one(character: string): void {
    if (character === " " || character === "@" || character === "$") this.#at += 1;
    else if (character === "[") this.#brackets();
    else if (character === '"' || character === "'") this.#quoted(character);
    else if (character === ".") {
      this.#at += 1;
      this.#field();
    } else if (/[+\-\d]/.test(character)) this.#number();
    else if (WORD.test(character)) this.#word();
    else throw this.#error(`unexpected character ${JSON.stringify(character)}`);
  }

  #error(why: string): Error {
    return badRequest(`invalid JSON path ${JSON.stringify(this.#whole)}: ${why}`);
  }

  /** Reads up to the next terminator. */
  #name(): string {
    const start = this.#at;
    while (this.#at < this.#text.length && !TERMINATORS.has(this.#text[this.#at] as string))
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    if (this.#at > this.#text.length) throw this.#error("it ends in a backslash");
    return this.#text.slice(start, this.#at);
  }

  #field(): void {
    const name = this.#name();
    this.#nodes.push(name === "*" ? { type: "wildcard" } : { type: "field", name: name.replaceAll("\\", "") });
  }

  #recursive(): void {
    if (this.#nodes.at(-1)?.type === "recursive") throw this.#error("it has two consecutive recursive descents");
    this.#at += 2;
    this.#nodes.push({ type: "recursive" });
    if (WORD.test(this.#text[this.#at] ?? "")) this.#field();
  }

  #word(): void {
    const word = this.#name();
    if (word !== "true" && word !== "false")
      throw this.#error(`${JSON.stringify(word)} is not a value, and names must follow a dot`);
    this.#nodes.push({ type: "constant", value: word === "true" });
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const text = NUMBER.exec(this.#text)?.[0] ?? "";
    const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value)) throw this.#error(`${text} is not a number`);
    this.#at += text.length;
    this.#nodes.push({ type: "constant", value });
  }

  #quoted(quote: string): void {
    let end = this.#at + 1;
    while (
      end < this.#text.length &&
      this.#text[end] !== "\n" &&
      !(this.#text[end] === quote && this.#text[end - 1] !== "\\")
    )
      end += 1;
    if (this.#text[end] !== quote) throw this.#error("unterminated quote");
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    this.#nodes.push({ type: "constant", value: this.#unescape(inner) });
  }

  /** Decodes Go's string escapes. */
  #unescape(text: string): string {
    return text.replaceAll(
      /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.?)/gs,
      (whole: string, escape: string) => {
        const simple = SIMPLE_ESCAPES.get(escape);
        if (simple !== undefined) return simple;
        const code = /^[xuU]./.test(escape)
          ? Number.parseInt(escape.slice(1), 16)
          : /^[0-7]{3}$/.test(escape)
            ? Number.parseInt(escape, 8)
            : Number.NaN;
        if (!(code <= 0x10_ffff)) throw this.#error(`${whole} is not a valid escape`);
        return String.fromCodePoint(code);
      },
    );
  }

  /** Quotes have no meaning here: the first closing bracket ends it. */
  #brackets(): void {
    const close = this.#text.indexOf("]", this.#at);
    const inner = close < 0 ? "\n" : this.#text.slice(this.#at + 1, close);
    if (inner.includes("\n")) throw this.#error("unterminated bracket");
    this.#at = close + 1;
    const parts = inner.split(",");
    if (parts.length > 1)
      this.#nodes.push({ type: "union", branches: parts.map((part) => this.#inside(`[${part.trim()}]`)) });
    else if (KEY.test(inner)) this.#nodes.push(...this.#inside(`.${KEY.exec(inner)?.[1] ?? ""}`));
    else this.#nodes.push(this.#range(inner === "*" ? ":" : inner));
  }

  #inside(text: string): Node[] {
    return new Reader(text, this.#whole).nodes();
  }

  #range(text: string): Node {
    const match = RANGE.exec(text);
    if (!match) throw this.#error(`[${text}] is not supported`);
    const [from, to, step] = [match[1], match[2]?.slice(1), match[3]?.slice(1)].map((part) =>
      part === undefined || part === "" ? undefined : Number(part),
    );
    if ([from, to, step].some((part) => Number.isNaN(part)))
      throw this.#error(`[${text}] has an index that is not a number`);
    return {
      type: "range",
      from,
      to,
      isSingle: match[2] === undefined,
      step,
    };
  }

  #filter(): void {
    const start = this.#at + "[?(".length;
    const end = this.#endOfCondition(start);
    const text = this.#text.slice(start, end);
    this.#at = end + ")]".length;
    const match = COMPARISON.exec(text);
    this.#nodes.push({
      type: "filter",
      left: this.#inside(match?.[1] ?? text),
      operator: match?.[2] ?? "exists",
      right: match ? this.#inside(match[3] ?? "") : [],
    });
  }

  /** The bracket that ends a filter. The filter may contain one quoted string, which may contain brackets. */
  #endOfCondition(start: number): number {
    let quote = "";
    let isClosed = false;
    for (let at = start; at < this.#text.length && this.#text[at] !== "\n"; at++) {
      const character = this.#text[at] as string;
      if (character === '"' || character === "'") {
        if (quote === "") quote = character;
        else if (character === quote && this.#text[at - 1] !== "\\") isClosed = true;
      } else if (character === ")" && (quote === "" || isClosed)) {
        if (this.#text[at + 1] === "]") return at;
        break;
      }
    }
    throw this.#error("unterminated filter");
  }
}

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([...NAMED_ESCAPES, ["\\", "\\"], ["'", "'"], ['"', '"']]);
