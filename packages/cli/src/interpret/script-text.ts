/**
 * Maps positions in a script to positions in its YAML file. A script in a block scalar (`|` or `>`) is the file's text
 * without its indentation and, when folded, with lines joined.
 */

/** Counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A block scalar in a file. */
export interface Block {
  /** The name of the file. */
  file: string;
  /** Its lines as written in the file. */
  lines: readonly string[];
  /** The line of the file at which it starts, counted from 1. */
  firstLine: number;
  indent: number;
}

/** A part of the script that is one line of the file. */
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

  /** The position in the file; undefined where there is none. `column` counts the bytes of the script's line. */
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

  /** The position of the first text in a line of the script. */
  startOf(line: number): Place | undefined {
    const lineStart = this.#lineStarts[line - 1];
    if (lineStart === undefined) return undefined;
    const blank = /^[ \t]*/.exec(this.script.slice(lineStart))?.[0].length ?? 0;
    return this.placeOf(line, blank + 1);
  }

  /** The number of characters from a position to the end of its line. */
  lengthAt({ line, column }: Place): number {
    return this.#lineAt(line).trimEnd().length - column + 1;
  }

  /** The line of the file with markers under `length` characters. */
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

/** Every line of the block appears in the script in order, separated only by line breaks and spaces. */
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

/** How many characters the first bytes of a string are. */
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
