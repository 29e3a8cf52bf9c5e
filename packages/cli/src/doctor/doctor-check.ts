/**
 * Defines a check of `flotilla doctor`: `gather` reads, `judge` decides. Judging is pure, so that every case is a small
 * test. A check that could not gather is reported as unknown, never as ok.
 */
import type { DoctorContext } from "./context.ts";

/**
 * `problem`: something does not work. `warning`: it works but will soon fail, or behaves unexpectedly. `partly`:
 * everything that could be checked is ok. `unknown`: nothing could be checked. `skipped`: it does not apply here.
 */
export type Verdict = "ok" | "warning" | "problem" | "partly" | "unknown" | "skipped";

export interface DoctorFinding {
  severity: "warning" | "problem";
  /** The affected object: `member member2`, `Work karmada-es-member1/web-5d9`. */
  about: string;
  /** What was observed, in one or two sentences. */
  seen: string;
  /** What to do. */
  fix: string;
  /** The commands to run verbatim; words in capitals stand for names. */
  commands: readonly string[];
}

export interface Judgement {
  /** One line for the table: `3 of 3 ready`. */
  seen: string;
  /** Worst first. */
  findings: readonly DoctorFinding[];
  /** What could not be checked, each with the reason. */
  unseen?: readonly string[];
  /** Why the check does not apply here. */
  skipped?: string;
}

export interface CheckDefinition<T> {
  /** The name for `--only`. */
  name: string;
  /** One line: what is checked. */
  summary: string;
  /** For the documentation: what is reported, and when. */
  reports: string;
  gather(context: DoctorContext): Promise<T>;
  judge(gathered: T, now: Moment): Judgement;
}

/** The current time, and how long an operation may take before it counts as stuck. */
export interface Moment {
  nowMs: number;
  stuckAfterMs: number;
}

export interface DoctorCheck extends Pick<CheckDefinition<unknown>, "name" | "summary" | "reports"> {
  run(context: DoctorContext, now: Moment): Promise<Judgement>;
}

/** Hides the type that a check gathers, so that different checks fit one list. */
export function defineCheck<T>(
  definition: CheckDefinition<T>,
): DoctorCheck & Pick<CheckDefinition<T>, "gather" | "judge"> {
  const { name, summary, reports, gather, judge } = definition;
  return { name, summary, reports, gather, judge, run: async (context, now) => judge(await gather(context), now) };
}

export const verdictOf = ({ findings, unseen = [], skipped }: Judgement): Verdict => {
  if (findings.some(({ severity }) => severity === "problem")) return "problem";
  if (findings.length > 0) return "warning";
  if (unseen.length > 0) return "partly";
  return skipped === undefined ? "ok" : "skipped";
};

/** `a, b, c and 4 more` */
export function listed(names: readonly string[], shown = 5): string {
  return names.length <= shown
    ? names.join(", ")
    : `${names.slice(0, shown).join(", ")} and ${names.length - shown} more`;
}
