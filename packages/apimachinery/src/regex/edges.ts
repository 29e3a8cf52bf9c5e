/** What lies on both sides of a position, and which assertions hold there. */
import type { Assertion } from "./syntax.ts";

/** The kind of the previous character: none (the beginning), a word character, a line end, or another. */
export type Edge = "none" | "word" | "newline" | "other";

export function edgeOf(code: number): Edge {
  if (code === 10) return "newline";
  const isWord = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
  return isWord ? "word" : "other";
}

/** Reports whether an assertion holds between two characters; `none` after is the end. */
export function holds(assertion: Assertion, before: Edge, after: Edge): boolean {
  switch (assertion) {
    case "start":
      return before === "none";
    case "end":
      return after === "none";
    case "lineStart":
      return before === "none" || before === "newline";
    case "lineEnd":
      return after === "none" || after === "newline";
    case "word":
      return (before === "word") !== (after === "word");
    default:
      return (before === "word") === (after === "word");
  }
}
