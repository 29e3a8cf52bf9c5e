/**
 * Templates in the syntax of `kubectl get -o jsonpath=`: text, `{.paths}`, `{"\n"}` and `{range .items[*]}…{end}`.
 * Pure.
 */
import { isObject, UsageError } from "@flotilla/base";
import { ApiError, compileJsonPath } from "@flotilla/apimachinery";

type Node =
  | { text: string }
  | { values(object: unknown): readonly unknown[] }
  | { each(object: unknown): readonly unknown[]; body: Node[] };

const MAX_DEPTH = 16;

/** Throws `UsageError` for an invalid template. */
export function compileTemplate(template: string): (object: unknown) => string {
  // A bare path is accepted, although kubectl would print it literally.
  const nodes = new Reader(template.includes("{") ? template : `{${template}}`).read();
  return (object) => render(nodes, object);
}

function render(nodes: readonly Node[], object: unknown): string {
  let text = "";
  for (const node of nodes) {
    if ("text" in node) text += node.text;
    else if ("body" in node) for (const item of node.each(object)) text += render(node.body, item);
    else text += node.values(object).map(valueText).join(" ");
  }
  return text;
}

/** Strings unquoted, objects and lists as JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

class Reader {
  readonly #template: string;
  #at = 0;

  constructor(template: string) {
    this.#template = template;
  }

  read(depth = 0): Node[] {
    if (depth > MAX_DEPTH) throw new UsageError(`the JSON path has more than ${MAX_DEPTH} nested ranges`);
    const nodes: Node[] = [];
    while (this.#at < this.#template.length) {
      const open = this.#template.indexOf("{", this.#at);
      const text = this.#template.slice(this.#at, open < 0 ? undefined : open);
      if (text !== "") nodes.push({ text });
      if (open < 0) {
        this.#at = this.#template.length;
        break;
      }
      const action = this.#action(open).trim();
      if (action === "end") {
        if (depth === 0) throw new UsageError("the JSON path has an {end} without a {range}");
        return nodes;
      }
      const range = /^range\s+(.+)$/s.exec(action)?.[1];
      nodes.push(
        range === undefined
          ? { values: compilePath(action) }
          : { each: compilePath(range), body: this.read(depth + 1) },
      );
    }
    if (depth > 0) throw new UsageError("the JSON path has a {range} without an {end}");
    return nodes;
  }

  /** The text between this brace and its closing one; braces in quotes do not count. */
  #action(open: number): string {
    let quote = "";
    for (let at = open + 1; at < this.#template.length; at++) {
      const character = this.#template[at] as string;
      if (quote === "" && character === "}") {
        this.#at = at + 1;
        return this.#template.slice(open + 1, at);
      }
      if (character === "\\") at += 1;
      else if (quote === "" && (character === '"' || character === "'")) quote = character;
      else if (character === quote) quote = "";
    }
    throw new UsageError(`the JSON path has an unclosed brace: ${this.#template.slice(open)}`);
  }
}

const OF_ITEMS = /^[$@]?\.items\[\*\](.*)$/s;

/** A path with a limit on its values. In a range the limit applies per item, because a fleet may have many items. */
export function compilePath(path: string): (object: unknown) => readonly unknown[] {
  const ofItem = OF_ITEMS.exec(path)?.[1];
  try {
    const follow = compileJsonPath(ofItem ?? path);
    if (ofItem === undefined) return follow;
    return (object) =>
      isObject(object) && Array.isArray(object["items"])
        ? object["items"].flatMap((item) => (ofItem === "" ? [item] : follow(item)))
        : [];
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
