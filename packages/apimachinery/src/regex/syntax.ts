/** A parsed regular expression. */
import { FlotillaError } from "@flotilla/base";
import type { CharacterTest } from "./characters.ts";

/** Zero-width assertions: start or end of the text or of a line, a word boundary, or no word boundary. */
export type Assertion = "start" | "end" | "lineStart" | "lineEnd" | "word" | "noWord";

export type PatternNode =
  | { kind: "empty" }
  /** The weight is the number of ranges in the test. */
  | { kind: "character"; test: CharacterTest; weight: number }
  | { kind: "assertion"; assertion: Assertion }
  | { kind: "sequence"; parts: PatternNode[] }
  | { kind: "choice"; options: PatternNode[] }
  /** A lazy repeat prefers fewer: the same texts match, but the matches differ. */
  | { kind: "repeat"; part: PatternNode; min: number; max: number; isLazy: boolean };

/** The pattern is not a valid regular expression, or exceeds Flotilla's limits. */
export class PatternError extends FlotillaError {
  /** In Go's wording: ``error parsing regexp: missing closing ): `(` ``. */
  readonly problem: string;
  constructor(pattern: string, problem: string, fragment: string) {
    const text = `error parsing regexp: ${problem}: \`${fragment}\``;
    super("Pattern", `invalid pattern ${JSON.stringify(pattern.slice(0, 200))}: ${text}`);
    this.problem = text;
  }
}
