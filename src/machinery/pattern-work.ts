/**
 * Bounds what matching may cost. Time is linear in the text, but also in the pattern, and a short pattern may stand for
 * thousands of states: a text of a megabyte would hold up everybody else for seconds. So steps are counted, and those
 * who share a budget (all patterns of an object, one call in an expression) end with an error when it is used up.
 */
import { FlotillaError } from "../base/index.ts";

/**
 * A few patterns on every character of the largest object that a request can carry; about a tenth of a second of work.
 */
export const MAX_PATTERN_STEPS = 20_000_000;

/** The text was not matched to its end. It counts neither as a match nor as none. */
export class PatternWorkError extends FlotillaError {
  readonly limit: number;
  constructor(limit: number) {
    super("PatternWork", `matching takes more than ${limit} steps`);
    this.limit = limit;
  }
}

/**
 * Steps that are left. One step is one state that is looked at for one character, or one character where that is known
 * already.
 */
export class PatternWork {
  readonly limit: number;
  private spent = 0;

  constructor(limit = MAX_PATTERN_STEPS) {
    this.limit = limit;
  }

  /** Also counts the steps that were too many. */
  get steps(): number {
    return this.spent;
  }

  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > this.limit) throw new PatternWorkError(this.limit);
  }
}
