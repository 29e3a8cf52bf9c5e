/** Parses the output of one process of the suite: passed, or a short form of the first failure. */

export interface Outcome {
  result: "passed" | "failed" | "skipped" | "timed out";
  /** Why it did not pass. */
  reason?: string;
}

/** A failure may print whole API objects; the cause comes first. */
const REASON_CHARACTERS = 300;
/** The banner that ginkgo repeats for every failure, followed by the expectation. */
const FAILURE = /^\s*\[(?:FAILED|PANICKED|TIMEDOUT|INTERRUPTED)\] (?!in \[)(.+(?:\n(?!\s*(?:In \[|----)).*)*)/m;

export function readOutcome(output: string, timedOut: boolean): Outcome {
  const reason = FAILURE.exec(output)?.[1] ?? /^\s*(?:panic: |F\d{4} )(.*)$/m.exec(output)?.[1];
  if (timedOut) return { result: "timed out", reason: shorten(reason ?? lastStep(output) ?? "no output") };
  if (/-- 1 Passed \| 0 Failed/.test(output)) return { result: "passed" };
  if (/-- 0 Passed \| 0 Failed/.test(output))
    return {
      result: "skipped",
      reason: shorten(/\[SKIPPED\] (?!in \[)(.*)/.exec(output)?.[1] ?? "skipped by the suite"),
    };
  return { result: "failed", reason: shorten(reason ?? output.trim().split("\n").at(-1) ?? "no output") };
}

/** The last step of a test that timed out. */
function lastStep(output: string): string | undefined {
  return [...output.matchAll(/STEP: (.*?)(?: @ .*)?$/gm)].at(-1)?.[1];
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > REASON_CHARACTERS ? `${line.slice(0, REASON_CHARACTERS)}…` : line;
}
