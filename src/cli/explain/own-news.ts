/**
 * What of a plan is its own. Something is always under way in a fleet, and some things are stuck: every plan would tell
 * of them, whatever it is about. They are what planning the fleet as it stands tells as well, and are counted instead
 * of shown.
 */
import type { MemberChange } from "../../explain/index.ts";

export interface PlanProblem {
  resource: string;
  message: string;
}

/** What a plan of the fleet tells. */
export interface PlanNews {
  /** Sorted by cluster. */
  changes: MemberChange[];
  problems: PlanProblem[];
}

/** `isAsked` tells the resources that the plan is about: their problems are shown also where they are not new. */
export function ownNews(
  planned: PlanNews,
  standing: PlanNews,
  isAsked: (resource: string) => boolean,
): PlanNews & { note?: string } {
  const known = new Set([...standing.changes, ...standing.problems].map((item) => JSON.stringify(item)));
  const isNew = (item: MemberChange | PlanProblem): boolean => !known.has(JSON.stringify(item));
  const changes = planned.changes.filter(isNew);
  const problems = planned.problems.filter((problem) => isNew(problem) || isAsked(problem.resource));
  const left = [
    count(planned.changes.length - changes.length, "change"),
    count(planned.problems.length - problems.length, "problem"),
  ].flat();
  return {
    changes,
    problems,
    note:
      left.length > 0
        ? `${left.join(" and ")} that are there already, whatever you apply: 'flotilla why' explains them`
        : undefined,
  };
}

const count = (number: number, what: string): string[] =>
  number === 0 ? [] : [`${number} ${what}${number === 1 ? "" : "s"}`];
