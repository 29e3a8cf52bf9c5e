/**
 * Limits the cost of matching. Time is linear in the text, but also in the pattern, and a short pattern may expand to
 * thousands of states: a text of a megabyte would block all other requests for seconds. So steps are counted, and users
 * of a shared budget (all patterns of an object, one call in an expression) fail with an error when it is exhausted.
 */
import { FlotillaError } from "@flotilla/base";

/**
 * Enough for a few patterns on every character of the largest object that a request can carry; about a tenth of a
 * second of work.
 */
export const MAX_PATTERN_STEPS = 20_000_000;

/** The text was not matched to its end. The result is unknown. */
export class PatternWorkError extends FlotillaError {
  readonly limit: number;
  constructor(limit: number) {
    super("PatternWork", `matching takes more than ${limit} steps`);
    this.limit = limit;
  }
}

/** Remaining steps. One step is one state visited for one character, or one character with a cached transition. */
export class PatternWork {
  readonly limit: number;
  private spent = 0;

  constructor(limit = MAX_PATTERN_STEPS) {
    this.limit = limit;
  }

  /** Includes the steps beyond the limit. */
  get steps(): number {
    return this.spent;
  }

  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > this.limit) throw new PatternWorkError(this.limit);
  }
}
