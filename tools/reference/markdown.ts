/** Markdown helpers shared by the pages. Pure. */

/** The header of a generated page, for editors who open it. */
export function generatedNote(source: string): string {
  return `<!-- Generated from ${source} by \`npm run reference\`. Change it there. -->`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A pipe would end the cell, even between backticks. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Paragraphs separated by an empty line, with one final line feed. */
export function page(...parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined && part !== "").join("\n\n")}\n`;
}
