/**
 * What a check of `flotilla doctor` is: `gather` reads, `judge` decides. Judging is pure, so that every case is a small
 * test; a check that could not gather is told as such and never as well.
 */
import type { DoctorContext } from "./context.ts";

/**
 * `problem`: something does not work. `warning`: it works and will not for long, or not as meant. `partly`: what could
 * be looked at is well. `unknown`: nobody could look. `skipped`: it does not apply here.
 */
export type Verdict = "ok" | "warning" | "problem" | "partly" | "unknown" | "skipped";

export interface DoctorFinding {
  severity: "warning" | "problem";
  /** What it is about: `member member2`, `Work karmada-es-member1/web-5d9`. */
  about: string;
  /** What was seen, in one or two sentences. */
  seen: string;
  /** What to do. */
  fix: string;
  /** The commands that do it, to be typed as they are; words in capitals are to be filled in. */
  commands: readonly string[];
}

export interface Judgement {
  /** One line for the table: `3 of 3 ready`. */
  seen: string;
  /** The worst first. */
  findings: readonly DoctorFinding[];
  /** What could not be looked at, each with the reason. */
  unseen?: readonly string[];
  /** Why the check does not apply here. */
  skipped?: string;
}

export interface CheckDefinition<T> {
  /** What `--only` names. */
  name: string;
  /** One line: what is looked at. */
  summary: string;
  /** For the documentation: what is told, and when. */
  tells: string;
  gather(context: DoctorContext): Promise<T>;
  judge(gathered: T, now: Moment): Judgement;
}

/** When it is, and how long something may take before it counts as stuck. */
export interface Moment {
  nowMs: number;
  patienceMs: number;
}

export interface DoctorCheck extends Pick<CheckDefinition<unknown>, "name" | "summary" | "tells"> {
  run(context: DoctorContext, now: Moment): Promise<Judgement>;
}

/** Hides what a check gathers, so that checks of different kinds fit one list. */
export function defineCheck<T>({
  name,
  summary,
  tells,
  gather,
  judge,
}: CheckDefinition<T>): DoctorCheck & Pick<CheckDefinition<T>, "gather" | "judge"> {
  return { name, summary, tells, gather, judge, run: async (context, now) => judge(await gather(context), now) };
}

export const verdictOf = ({ findings, unseen = [], skipped }: Judgement): Verdict => {
  if (findings.some(({ severity }) => severity === "problem")) return "problem";
  if (findings.length > 0) return "warning";
  if (unseen.length > 0) return "partly";
  return skipped === undefined ? "ok" : "skipped";
};

/** `1 member`, `3 members` */
export const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${count} ${count === 1 ? what : plural}`;

/** `a, b, c and 4 more` */
export function listed(names: readonly string[], shown = 5): string {
  return names.length <= shown
    ? names.join(", ")
    : `${names.slice(0, shown).join(", ")} and ${names.length - shown} more`;
}
