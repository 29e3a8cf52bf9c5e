/**
 * Where in a YAML file the lines of a script are. A script in a block scalar (`|` or `>`) is the file's text without
 * its indentation and, where it is folded, with lines joined; from a place in the script this finds the place in the
 * file.
 */

/** Counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A block scalar in a file. */
export interface Block {
  /** What the file is called. */
  file: string;
  /** The lines of its text as they stand in the file. */
  lines: readonly string[];
  /** Which line of the file the first of them is, counted from 1. */
  firstLine: number;
  indent: number;
}

/** A stretch of the script that is one line of the file. */
interface Stretch {
  start: number;
  end: number;
  line: number;
}

export class ScriptText {
  readonly script: string;
  readonly #block: Block;
  readonly #stretches: readonly Stretch[];
  readonly #lineStarts: readonly number[];

  constructor(script: string, block: Block) {
    this.script = script;
    this.#block = block;
    this.#stretches = align(script, block);
    this.#lineStarts = lineStartsOf(script);
  }

  get file(): string {
    return this.#block.file;
  }

  /**
   * The place in the file; undefined where the script has no such place. `column` counts the bytes of the script's
   * line.
   */
  placeOf(line: number, column = 1): Place | undefined {
    const lineStart = this.#lineStarts[line - 1];
    if (lineStart === undefined) return undefined;
    const offset = lineStart + charactersIn(this.script.slice(lineStart), column - 1);
    const stretch = this.#stretches.find(({ end }) => offset < end) ?? this.#stretches.at(-1);
    if (!stretch) return undefined;
    return {
      line: stretch.line,
      column: this.#block.indent + 1 + Math.max(0, Math.min(offset, stretch.end) - stretch.start),
    };
  }

  /** The place of the first text in a line of the script. */
  startOf(line: number): Place | undefined {
    const lineStart = this.#lineStarts[line - 1];
    if (lineStart === undefined) return undefined;
    const blank = /^[ \t]*/.exec(this.script.slice(lineStart))?.[0].length ?? 0;
    return this.placeOf(line, blank + 1);
  }

  /** How many characters the line of the file has from a place on. */
  lengthAt({ line, column }: Place): number {
    return this.#lineAt(line).trimEnd().length - column + 1;
  }

  /** The line of the file with marks under `length` characters. */
  excerpt({ line, column }: Place, length = 1): string {
    const text = this.#lineAt(line);
    const number = String(line);
    const lead = text.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
    return [`  ${number} | ${text}`, `  ${" ".repeat(number.length)} | ${lead}${"^".repeat(Math.max(1, length))}`].join(
      "\n",
    );
  }

  #lineAt(line: number): string {
    return this.#block.lines[line - this.#block.firstLine] ?? "";
  }
}

/** Every line of the block appears in the script in its order; only line breaks and spaces come between. */
function align(script: string, { lines, firstLine, indent }: Block): Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  for (const [index, raw] of lines.entries()) {
    const content = raw.slice(indent);
    if (content === "") continue;
    while (at < script.length && !script.startsWith(content, at)) at += 1;
    if (at === script.length) break;
    stretches.push({ start: at, end: at + content.length, line: firstLine + index });
    at += content.length;
  }
  return stretches;
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** How many characters the first bytes of a text are. */
function charactersIn(text: string, bytes: number): number {
  let characters = 0;
  let counted = 0;
  for (const character of text) {
    if (counted >= bytes || character === "\n") break;
    counted += Buffer.byteLength(character);
    characters += character.length;
  }
  return characters;
}
