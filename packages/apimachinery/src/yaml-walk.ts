/** The nodes of a YAML text with their paths and positions, for messages that name a line. */
import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";
import type { Event } from "js-yaml";

/** Deeper nesting is rejected, here as in `parseYaml`. */
export const MAX_YAML_DEPTH = 200;

export interface YamlNode {
  kind: "key" | "scalar" | "alias" | "mapping" | "sequence";
  /** Field names and indices that lead to the node; those of a key end with the key. */
  path: readonly (string | number)[];
  /** The mapping or list that contains the node, the same object for all its nodes; undefined for a document. */
  parent: object | undefined;
  /** The position of the node in the text. */
  start: number;
  /** Of a key or a scalar. */
  value(): string;
  /** Set if the node is a block scalar (`|` or `>`): where its lines are, and how far they are indented. */
  block?: { start: number; end: number; indent: number };
}

interface Open {
  path: readonly (string | number)[];
  isMapping: boolean;
  /** In a mapping: the key whose value comes next. */
  key: string | undefined;
  /** In a list: the number of items so far. */
  count: number;
}

/** The name in paths of a key that is not a scalar: an alias, or a collection. */
const KEY_ALIAS = "*";
const KEY_COLLECTION = "?";

/** All nodes in order. Throws the parser's error if the text is not valid; call `parseYaml` first. */
export function* walkYaml(text: string): Generator<YamlNode> {
  const open: Open[] = [];
  for (const event of parseEvents(text, { maxDepth: MAX_YAML_DEPTH })) {
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    const isKey = parent?.isMapping === true && parent.key === undefined;
    const path = parent ? [...parent.path, nameOf(text, event, parent, isKey)] : [];
    if (parent) parent.key = isKey ? String(path.at(-1)) : undefined;
    const isMapping = event.type === EVENT_ID.MAPPING;
    if (isMapping || event.type === EVENT_ID.SEQUENCE) {
      yield { kind: isMapping ? "mapping" : "sequence", path, parent, start: event.start, value: () => "" };
      open.push({ path, isMapping, key: undefined, count: 0 });
    } else if (event.type === EVENT_ID.ALIAS) {
      yield { kind: isKey ? "key" : "alias", path, parent, start: event.anchorStart, value: () => "" };
    } else {
      const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
      yield {
        kind: isKey ? "key" : "scalar",
        path,
        parent,
        start: event.valueStart,
        value: () => getScalarValue(text, event),
        block: isBlock ? { start: event.valueStart, end: event.valueEnd, indent: event.indent } : undefined,
      };
    }
  }
}

function nameOf(text: string, event: Event, parent: Open, isKey: boolean): string | number {
  if (!parent.isMapping) return parent.count++;
  if (!isKey) return parent.key ?? KEY_COLLECTION;
  if (event.type === EVENT_ID.SCALAR) return getScalarValue(text, event);
  return event.type === EVENT_ID.ALIAS ? KEY_ALIAS : KEY_COLLECTION;
}

const NEWLINE = 10;

/** The line of a position, counted from 1. Positions must be passed in order, so that the text is scanned once. */
export function createLineCounter(text: string): (position: number) => number {
  let line = 1;
  let counted = 0;
  return (position) => {
    for (; counted < position; counted++) if (text.charCodeAt(counted) === NEWLINE) line++;
    return line;
  };
}
