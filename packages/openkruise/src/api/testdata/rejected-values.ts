/**
 * Messages without the values that they reject. OpenKruise prints values with Go's `%#v`; Flotilla prints them as JSON.
 */

const REJECTED = /(Invalid|Unsupported|Duplicate) value(?=: )/g;
/** A string, a number or another word; `null` and `(nil)` are words, and a Go type may precede them. */
const SCALAR = /"(?:[^"\\]|\\.)*"|(?:[\w.*[\]]+)?\(nil\)|-?\d+(?![\w.])|null|true|false/y;
/** The start of an object, a list or a Go struct, map or slice. */
const COMPOSITE = /(?:(?:\[\]|\*|map\[\w+\])*(?:\w+\.)?\w*)[[{]/y;

/** `onlyComposite` keeps strings, numbers and the like. */
export function withoutRejectedValues(text: string, onlyComposite = false): string {
  let result = "";
  let from = 0;
  for (const { 0: words, index } of text.matchAll(REJECTED)) {
    if (index < from) continue;
    const start = index + words.length;
    result += text.slice(from, start);
    from = endOfValue(text, start + ": ".length, onlyComposite) ?? start;
  }
  return result + text.slice(from);
}

/** The index after the value that starts at `start`; undefined if there is none. */
function endOfValue(text: string, start: number, onlyComposite: boolean): number | undefined {
  SCALAR.lastIndex = start;
  if (SCALAR.test(text)) return onlyComposite ? undefined : SCALAR.lastIndex;
  COMPOSITE.lastIndex = start;
  if (!COMPOSITE.test(text)) return undefined;
  let depth = 0;
  let isQuoted = false;
  for (let index = COMPOSITE.lastIndex - 1; index < text.length; index++) {
    const character = text.charAt(index);
    if (isQuoted) {
      if (character === "\\") index++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
  }
  return text.length;
}
