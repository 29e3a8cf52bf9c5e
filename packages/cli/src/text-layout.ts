/**
 * Lays out text in terminal columns: its width, where it may be broken, and how it is shortened. Pure.
 *
 * Most output is ASCII, which is checked first; other characters take two columns (Chinese, Japanese, Korean, emoji),
 * none (combining marks) or one. Colours take none.
 */
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;
// oxlint-disable-next-line no-control-regex
const PLAIN = /^[\x20-\x7e]*$/;
const WIDE = new RegExp(
  [
    String.raw`[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf]`,
    String.raw`[\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]`,
    String.raw`\p{Emoji_Presentation}`,
    String.raw`[\u{20000}-\u{3fffd}]`,
  ].join("|"),
  "u",
);
const JOINED = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const ELLIPSIS = "…";
const CONTINUED = " \\";
const INDENT = "    ";
/** A non-breaking space. */
const NO_BREAK_SPACE = "\u00a0";

/** The number of columns of a text. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text.replaceAll(COLOURS, ""))
    width += JOINED.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/** Limits the width. Sentences lose their end; a name loses its middle, because related names differ at the end. */
export function shorten(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  // A truncated colour sequence would affect the following text.
  if (text.includes("\u001b")) return shorten(text.replaceAll(COLOURS, ""), width);
  const room = Math.max(0, width - 1);
  const tail = text.includes(" ") ? 0 : Math.floor(room / 3);
  const end = takeFromEnd(text, tail);
  return `${takeFromStart(text, room - displayWidth(end))}${ELLIPSIS}${end}`;
}

/**
 * Lines of at most `width` columns, broken between words. Lines after the first start with `indent`. A word that is
 * wider than a line gets its own line: URLs and paths are for copying.
 */
export function wrapWords(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  let isEmpty = true;
  for (const word of text.split(" ")) {
    const longer = isEmpty ? `${line}${word}` : `${line} ${word}`;
    if (!isEmpty && displayWidth(longer) > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line];
}

/** Wraps a long command line with backslashes, so that it can be copied. */
export function wrapCommand(command: string, width: number | undefined, start = ""): string {
  if (width === undefined) return `${start}${command}`;
  const room = width - start.length - CONTINUED.length;
  // A flag stays with its value, unless both are too long for a line.
  const joined = command.replaceAll(
    /(-{1,2}[\w-]+) (?=[^-\s|]\S*)(\S+)/g,
    (pair: string, flag: string, value: string) =>
      pair.length <= room - INDENT.length ? `${flag}${NO_BREAK_SPACE}${value}` : pair,
  );
  return wrapWords(joined, room, INDENT)
    .map((line) => `${start}${line.replaceAll(NO_BREAK_SPACE, " ")}`)
    .join(`${CONTINUED}\n`);
}

/** Wraps each line of a text to `width`, with indented continuation lines. If unset, the text is unchanged. */
export function wrapLines(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => {
      if (displayWidth(line) <= width) return [line];
      const start = /^ */.exec(line)?.[0] ?? "";
      // The indentation is not a word, so it is set aside: it may have many spaces.
      return wrapWords(line.slice(start.length), width - start.length, "  ").map((part) => `${start}${part}`);
    })
    .join("\n");
}

function takeFromStart(text: string, width: number): string {
  let taken = "";
  for (const character of text) {
    if (displayWidth(taken + character) > width) break;
    taken += character;
  }
  return taken;
}

function takeFromEnd(text: string, width: number): string {
  let taken = "";
  for (const character of Array.from(text).toReversed()) {
    if (displayWidth(character + taken) > width) break;
    taken = character + taken;
  }
  return taken;
}

/** `1 member`, `3 members` */
export const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${count} ${count === 1 ? what : plural}`;

/** Names and messages come from files and members: control characters are removed. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, " ");
