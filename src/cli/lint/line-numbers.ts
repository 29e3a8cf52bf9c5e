/** Maps each field of a YAML text to its line. One pass over the parser's events, on the first lookup. */
import { EVENT_ID, getScalarValue, parseEvents } from "js-yaml";
import { createLineCounter } from "../../machinery/index.ts";
import type { FieldPath } from "./fields.ts";

const MAX_DEPTH = 200;

interface Open {
  path: FieldPath;
  isMapping: boolean;
  /** In a mapping: the key whose value comes next. */
  key: string | undefined;
  /** In a list: the number of items seen. */
  count: number;
}

const keyOf = (path: FieldPath): string => JSON.stringify(path);

/** Counted from 1, in the text itself. A missing field maps to the nearest enclosing field. */
export function createLineNumbers(text: string): (path: FieldPath) => number | undefined {
  let lines: ReadonlyMap<string, number> | undefined;
  return (path) => {
    lines ??= readLines(text);
    for (let length = path.length; length > 0; length--) {
      const line = lines.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

function readLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const open: Open[] = [];
  const lineAt = createLineCounter(text);
  for (const event of parseEvents(text, { maxDepth: MAX_DEPTH })) {
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    const isLeaf = event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS;
    if (parent?.isMapping && parent.key === undefined && isLeaf) {
      parent.key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : "*";
      if (event.type === EVENT_ID.SCALAR) note(lines, [...parent.path, parent.key], lineAt(event.valueStart));
      continue;
    }
    const path = parent ? [...parent.path, parent.isMapping ? (parent.key ?? "?") : parent.count++] : [];
    if (parent) parent.key = undefined;
    if (event.type === EVENT_ID.SCALAR) note(lines, path, lineAt(event.valueStart));
    else if (!isLeaf) open.push({ path, isMapping: event.type === EVENT_ID.MAPPING, key: undefined, count: 0 });
  }
  return lines;
}

/** A list item begins where its first field does. */
function note(lines: Map<string, number>, path: FieldPath, line: number): void {
  for (let length = path.length; length > 0; length--) {
    const key = keyOf(path.slice(0, length));
    if (lines.has(key)) return;
    lines.set(key, line);
  }
}
