/** Tables for people, as wide as needed or as the terminal. Pure. */
import { displayWidth, padTo, shorten, wrapWords } from "./text-layout.ts";

/** A column of sentences is not made narrower than this; names are shortened first. */
const PROSE_WIDTH = 24;
/** A shorter name would be useless. */
const NAME_WIDTH = 8;

/**
 * Columns padded as in kubectl, or closer. With a width the table fits into it: names that are too long lose their
 * middle, and sentences in the last column are wrapped. Without one nothing is shortened.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  gap = 3,
  width?: number,
): string {
  const all = [header, ...rows];
  // No spread: there may be more rows than a call accepts arguments.
  const natural = header.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, displayWidth(row[column] ?? "")), 0),
  );
  const widths =
    width === undefined
      ? natural
      : fitWidths(natural, header, width - gap * (header.length - 1), isProse(rows, header.length - 1));
  return all
    .flatMap((row) =>
      renderRow(
        header.map((_, column) => row[column] ?? ""),
        natural,
        widths,
        gap,
      ),
    )
    .join("\n");
}

function renderRow(
  cells: readonly string[],
  natural: readonly number[],
  widths: readonly number[],
  gap: number,
): string[] {
  const last = cells.length - 1;
  const fitted = cells.map((cell, column) => {
    const room = widths[column] ?? 0;
    if (room >= (natural[column] ?? 0)) return [cell];
    return column === last && cell.includes(" ")
      ? wrapWords(cell, room).map((line) => shorten(line, room))
      : [shorten(cell, room)];
  });
  const height = Math.max(...fitted.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    fitted
      .map((lines, column) => padTo(lines[line] ?? "", (widths[column] ?? 0) + gap))
      .join("")
      .trimEnd(),
  );
}

/** The widest columns shrink first, all to the same width; the last one gets the rest if it holds sentences. */
function fitWidths(natural: readonly number[], header: readonly string[], room: number, hasProse: boolean): number[] {
  const sum = natural.reduce((total, width) => total + width, 0);
  if (sum <= room) return [...natural];
  const least = natural.map((width, column) =>
    Math.min(width, Math.max(NAME_WIDTH, displayWidth(header[column] ?? ""))),
  );
  const last = natural.length - 1;
  const prose = hasProse ? Math.min(natural[last] ?? 0, PROSE_WIDTH) : undefined;
  const widthsAt = (limit: number): number[] =>
    natural.map((width, column) =>
      prose !== undefined && column === last ? prose : Math.max(least[column] ?? 0, Math.min(width, limit)),
    );
  let widths = widthsAt(Infinity);
  for (let limit = Math.max(...natural); limit > 0 && widths.reduce((total, width) => total + width, 0) > room; limit--)
    widths = widthsAt(limit);
  if (prose !== undefined)
    widths[last] = Math.min(
      natural[last] ?? 0,
      Math.max(prose, room - widths.slice(0, -1).reduce((total, width) => total + width, 0)),
    );
  return widths;
}

const isProse = (rows: readonly (readonly string[])[], column: number): boolean =>
  rows.some((row) => (row[column] ?? "").trim().includes(" "));
