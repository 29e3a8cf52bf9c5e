/**
 * The paths of the shorthand: `.spec.replicas`, `.spec.containers[0]`, `.metadata.annotations['example.com/size']`. All
 * other JSONPath syntax (wildcards, filters, slices) may select several fields or none, and is rejected.
 */

/** A name, or a zero-based index. */
export type FieldPath = readonly (string | number)[];

const MAX_CHARACTERS = 1024;
const MAX_SEGMENTS = 32;
const SEGMENT = /\.([A-Za-z_][\w-]*)|\[(\d{1,4})\]|\['((?:[^'\\\p{C}]|\\['\\])*)'\]|\["((?:[^"\\\p{C}]|\\["\\])*)"\]/uy;

/** Returns undefined if the text is not a valid path. */
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

/** The canonical spelling of a path. */
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
