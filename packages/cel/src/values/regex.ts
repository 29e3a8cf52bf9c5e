/**
 * Regular expressions in CEL. Evaluation is synchronous and charged by cost, so each search has a budget of steps, and
 * its steps are charged after it.
 */
import {
  compilePattern,
  PatternError,
  PatternWork,
  PatternWorkError,
  STEPS_PER_BUILT_STATE,
} from "@flotilla/apimachinery";
import { MAX_SEARCH_STEPS } from "./frame.ts";
import { CelError } from "./values.ts";

let lastSteps = 0;

/**
 * The steps of the last search; reading resets them. Evaluation is synchronous, and a call is charged right after it.
 */
export function takeSearchSteps(): number {
  const steps = lastSteps;
  lastSteps = 0;
  return steps;
}

/** Runs one search. An invalid pattern, and a search that takes too long, are errors of the expression. */
export function search<T>(pattern: string, run: (work: PatternWork) => T): T | CelError {
  const work = new PatternWork(MAX_SEARCH_STEPS);
  lastSteps = 0;
  try {
    return run(work);
  } catch (error) {
    if (error instanceof PatternWorkError) return new CelError(error.message);
    if (!(error instanceof PatternError)) throw error;
    // The pattern was parsed to detect the error, and is not cached.
    lastSteps = pattern.length * STEPS_PER_BUILT_STATE;
    return new CelError(error.problem);
  } finally {
    lastSteps += work.steps;
  }
}

export function matchesPattern(text: string, pattern: string): boolean | CelError {
  return search(pattern, (work) => compilePattern(pattern).test(text, work));
}

/** The error of an invalid pattern. Does not build the automaton. */
export function patternProblem(pattern: string): CelError | undefined {
  const result = search(pattern, () => compilePattern(pattern));
  return result instanceof CelError ? result : undefined;
}
