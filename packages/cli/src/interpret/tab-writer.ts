/**
 * Aligns cells like the table writer of kubectl and karmadactl: cells that end in a tab form columns, and a column
 * never gets narrower further down.
 */
const PADDING = 3;
const MIN_WIDTH = 6;

export function alignTabs(lines: readonly string[]): string[] {
  const rows = lines.map((line) => line.split("\t"));
  const remembered: number[] = [];
  const widths: number[][] = rows.map(() => []);
  for (let column = 0; column < Math.max(0, ...rows.map((row) => row.length - 1)); column++) {
    // A block is a run of lines that have this column; the last cell of a line belongs to none.
    for (let start = 0; start < rows.length;) {
      let end = start;
      let width = Math.max(MIN_WIDTH, remembered[column] ?? 0);
      for (; column < (rows[end]?.length ?? 0) - 1; end++)
        width = Math.max(width, widthOf(rows[end]?.[column]) + PADDING);
      for (let row = start; row < end; row++) widths[row]?.push(width);
      if (end > start) remembered[column] = width;
      start = Math.max(end, start + 1);
    }
  }
  return rows.map((row, index) =>
    row.map((cell, column) => cell + " ".repeat(Math.max(0, (widths[index]?.[column] ?? 0) - widthOf(cell)))).join(""),
  );
}

const widthOf = (cell = ""): number => Array.from(cell).length;
