/**
 * Which columns of a table a terminal has room for. Names are never shortened, because people copy them; what matters
 * least is left out instead. Pure.
 */

/** What an object is, where, and whether it is well. Labels are shown only to whom asks for them. */
const KEPT: ReadonlySet<string> = new Set(["CLUSTER", "NAMESPACE", "NAME", "READY", "AGE", "EVENT", "LABELS"]);
/** Goes after all the others that may. */
const LAST_TO_GO = "STATUS";

/**
 * The places of the columns that stay, in their order: from the right, those that matter least go until the rest fits
 * with one blank between.
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

/** `2 columns are not shown; -o wide shows all` */
export const hiddenNote = (count: number): string =>
  `${count} column${count === 1 ? " is" : "s are"} not shown; -o wide shows all`;
