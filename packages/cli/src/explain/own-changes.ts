/**
 * Separates the changes a plan causes from those pending anyway. In a fleet some rollouts are always in progress or
 * stuck, and every plan would report them. Changes and problems that also appear when planning the unchanged fleet are
 * counted instead of shown.
 */
import type { MemberChange } from "@flotilla/flotilla";

export interface PlanProblem {
  resource: string;
  message: string;
}

/** The changes and problems of a fleet plan. */
export interface PlanChanges {
  /** Sorted by cluster. */
  changes: MemberChange[];
  problems: PlanProblem[];
}

/** `isAsked` matches the resources that the plan is about: their problems are shown even if they are not new. */
export function ownChanges(
  planned: PlanChanges,
  standing: PlanChanges,
  isAsked: (resource: string) => boolean,
): PlanChanges & { note?: string } {
  const known = new Set([...standing.changes, ...standing.problems].map((item) => JSON.stringify(item)));
  const isNew = (item: MemberChange | PlanProblem): boolean => !known.has(JSON.stringify(item));
  const changes = planned.changes.filter(isNew);
  const problems = planned.problems.filter((problem) => isNew(problem) || isAsked(problem.resource));
  const left = [
    count(planned.changes.length - changes.length, "change"),
    count(planned.problems.length - problems.length, "problem"),
  ].flat();
  const isOne = planned.changes.length - changes.length + planned.problems.length - problems.length === 1;
  return {
    changes,
    problems,
    note:
      left.length > 0
        ? `${left.join(" and ")} that this plan does not cause ${isOne ? "is" : "are"} not shown; 'flotilla ` +
          "status' lists problems, and 'flotilla why TYPE/NAME' explains them"
        : undefined,
  };
}

const count = (number: number, what: string): string[] =>
  number === 0 ? [] : [`${number} ${what}${number === 1 ? "" : "s"}`];
