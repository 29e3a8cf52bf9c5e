/** Text of workloads as one line of visible characters. Pure. */

const ESCAPE = "\u001B";

/**
 * Colours of terminals are dropped. Other control characters, and those that change the direction of text, could hide
 * what a line says: they become dots.
 */
export function withoutControls(text: string): string {
  if (!text.includes(ESCAPE) && !HIDDEN.test(text)) return text;
  const [first = "", ...rest] = text.split(ESCAPE);
  const plain = first + rest.map((part) => part.replace(/^\[[0-9;?]*[A-Za-z]/, "")).join("");
  return plain.replaceAll(HIDDEN_ALL, "·");
}

const HIDDEN = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const HIDDEN_ALL = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
