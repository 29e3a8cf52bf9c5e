/** Pieces of Markdown that the pages share. Pure. */

/** What a generated page says of itself, for whoever opens it to change it. */
export function generatedNote(source: string): string {
  return `<!-- Generated from ${source} by \`npm run reference\`. Change it there. -->`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A bar would end the cell, also between backticks. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Paragraphs with an empty line between, and one line feed at the end. */
export function page(...parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined && part !== "").join("\n\n")}\n`;
}
