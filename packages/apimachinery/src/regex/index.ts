/** Regular expressions in RE2's syntax with Go's results and error texts, and with a budget of steps. */
export { compilePattern, type Pattern } from "./pattern.ts";
export { PatternWork, PatternWorkError } from "./pattern-work.ts";
