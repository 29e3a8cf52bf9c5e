/** Maps each field of a YAML text to its line. One pass over the parser's events, on the first lookup. */
import { createLineCounter, walkYaml } from "@flotilla/apimachinery";
import type { FieldPath } from "./fields.ts";

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
  const lineAt = createLineCounter(text);
  for (const { kind, path, start } of walkYaml(text)) {
    if (kind === "key" || kind === "scalar") note(lines, path, lineAt(start));
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
