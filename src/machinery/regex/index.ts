/** Regular expressions in RE2's syntax with Go's results and error texts, and with a budget of steps. */
export { compilePattern, STEPS_PER_BUILT_STATE, type Pattern } from "./pattern.ts";
export { PatternError } from "./syntax.ts";
export { MAX_PATTERN_STEPS, PatternWork, PatternWorkError } from "./work.ts";
