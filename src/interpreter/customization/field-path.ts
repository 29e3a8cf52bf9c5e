/**
 * The paths of the shorthand: `.spec.replicas`, `.spec.containers[0]`, `.metadata.annotations['example.com/size']`.
 * Anything else that JSONPath knows (wildcards, filters, slices) names more than one place or none, and is refused.
 */

/** A name, or a position counted from 0. */
export type FieldPath = readonly (string | number)[];

const MAX_CHARACTERS = 1024;
const MAX_SEGMENTS = 32;
const SEGMENT = /\.([A-Za-z_][\w-]*)|\[(\d{1,4})\]|\['((?:[^'\\\p{C}]|\\['\\])*)'\]|\["((?:[^"\\\p{C}]|\\["\\])*)"\]/uy;

/** Undefined for a text that is no path. */
export function parseFieldPath(text: string): FieldPath | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = text.startsWith("$") ? 1 : 0;
  while (SEGMENT.lastIndex < text.length) {
    const found = SEGMENT.exec(text);
    if (!found || path.length === MAX_SEGMENTS) return undefined;
    const [, name, position, single, double] = found;
    path.push(
      position === undefined ? (name ?? (single ?? double ?? "").replaceAll(/\\(.)/g, "$1")) : Number(position),
    );
  }
  return path.length > 0 ? path : undefined;
}

/** The same path in one spelling. */
export function formatFieldPath(path: FieldPath): string {
  return path
    .map((segment) =>
      typeof segment === "number"
        ? `[${segment}]`
        : /^[A-Za-z_][\w-]*$/.test(segment)
          ? `.${segment}`
          : `[${JSON.stringify(segment)}]`,
    )
    .join("");
}
