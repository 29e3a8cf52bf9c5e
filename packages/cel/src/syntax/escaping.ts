/** Escapes property names for CEL: `my.field` is `my__dot__field`, `namespace` is `__namespace__`. */
import { RESERVED_WORDS } from "./lexer.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const UNESCAPES: ReadonlyMap<string, string> = new Map([
  ["underscores", "__"],
  ["dot", "."],
  ["dash", "-"],
  ["slash", "/"],
]);

/** The name in CEL; undefined for a property that CEL cannot name. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED_WORDS.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (part) => ESCAPES.get(part) ?? part);
}

/** The property's original name; undefined when the string is not an escaped name. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes("__")) return escaped;
  let isFine = true;
  const name = escaped.replaceAll(/__([^_]+)__/g, (whole, contents: string) => {
    const character = UNESCAPES.get(contents);
    if (character !== undefined) return character;
    if (!RESERVED_WORDS.has(contents) || whole.length !== escaped.length) isFine = false;
    return contents;
  });
  return isFine ? name : undefined;
}
