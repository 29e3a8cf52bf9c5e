/** The text of an expression and its errors, printed as in cel-go: the line, and a caret below the position. */

/** More are counted, not shown. */
const MAX_REPORTED = 100;
/** Longer lines are not quoted in the message. */
const MAX_SNIPPET_BYTES = 16_384;

interface Report {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export class Source {
  readonly text: string;
  /** Code points, which columns count. */
  readonly characters: readonly string[];
  private readonly lineStarts: number[] = [0];
  private readonly reports: Report[] = [];
  private count = 0;

  constructor(text: string) {
    this.text = text;
    this.characters = Array.from(text);
    for (const [index, character] of this.characters.entries()) if (character === "\n") this.lineStarts.push(index + 1);
  }

  get hasErrors(): boolean {
    return this.count > 0;
  }

  report(offset: number, message: string): void {
    this.count += 1;
    if (this.count > MAX_REPORTED) return;
    let line = this.lineStarts.length;
    while (line > 1 && (this.lineStarts[line - 1] ?? 0) > offset) line -= 1;
    this.reports.push({ line, column: offset - (this.lineStarts[line - 1] ?? 0), message });
  }

  /** For errors about the whole expression, which have no position in cel-go. */
  reportNowhere(message: string): void {
    this.count += 1;
    this.reports.push({ line: -1, column: -1, message });
  }

  render(): string {
    const shown = this.reports
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .map((report) => this.renderOne(report));
    if (this.count > MAX_REPORTED) shown.push(`${this.count - MAX_REPORTED} more errors were truncated`);
    return shown.join("\n");
  }

  private renderOne({ line, column, message }: Report): string {
    const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
    const start = this.lineStarts[line - 1];
    if (start === undefined || this.characters.length === 0) return head;
    const end = this.lineStarts[line];
    const snippet = this.characters.slice(start, end === undefined ? undefined : end - 1);
    const text = snippet.join("").replaceAll("\t", " ");
    if (Buffer.byteLength(text) > MAX_SNIPPET_BYTES) return head;
    let marker = "";
    for (const character of snippet.slice(0, column)) marker += isWide(character) ? "\uff0e" : ".";
    const at = snippet[column];
    return `${head}\n | ${text}\n | ${marker}${at !== undefined && isWide(at) ? "\uff3e" : "^"}`;
  }
}

const isWide = (character: string): boolean => character.charCodeAt(0) > 0x7f;
