/**
 * Decides which columns of a table fit the terminal. Names are never shortened, because users copy them; the least
 * important columns are hidden instead. Pure.
 */

/** An object's identity, location and health. Labels are shown only on request. */
const KEPT: ReadonlySet<string> = new Set(["CLUSTER", "NAMESPACE", "NAME", "READY", "AGE", "EVENT", "LABELS"]);
/** Hidden after all other optional columns. */
const LAST_TO_GO = "STATUS";

/**
 * The indexes of the visible columns, in order: the least important are hidden from the right until the rest fits with
 * one space between.
 */
export function fitColumns(header: readonly string[], rows: readonly (readonly string[])[], room: number): number[] {
  const widths = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), title.length),
  );
  let taken = widths.reduce((sum, width) => sum + width, 0) + header.length - 1;
  const mayGo = header
    .flatMap((title, column) => (KEPT.has(title) ? [] : [column]))
    .toSorted((a, b) => Number(header[a] === LAST_TO_GO) - Number(header[b] === LAST_TO_GO) || b - a);
  const gone = new Set<number>();
  for (const column of mayGo) {
    if (taken <= room) break;
    gone.add(column);
    taken -= (widths[column] ?? 0) + 1;
  }
  return [...header.keys()].filter((column) => !gone.has(column));
}

/** `2 columns are hidden; -o wide shows all` */
export const hiddenNote = (count: number): string =>
  `${count} column${count === 1 ? " is" : "s are"} hidden; -o wide shows all`;
