/** Objects that leave a member when the toleration of its taint ends: a plan shows what happens at once. Pure. */
import { formatAge, objectTitle } from "@flotilla/apimachinery";
import type { FleetPlan } from "@flotilla/flotilla";

/** A taint may concern every workload of a member. */
const MAX_NAMED = 5;

type Leaving = Pick<FleetPlan["templates"][number], "template" | "leavesInMs">;

/** The objects of a plan that leave later, by title. */
export const leavingLater = (templates: readonly Leaving[]): ReadonlyMap<string, number> =>
  new Map(
    templates.flatMap(({ template, leavesInMs }) =>
      leavesInMs === undefined ? [] : [[objectTitle(template), leavesInMs] as const],
    ),
  );

/** `standing` leave later without the plan, too. */
export function laterDepartures(
  templates: readonly Leaving[],
  standing: ReadonlyMap<string, number>,
): { unplanned: string[]; notes: string[] } {
  const found = [...leavingLater(templates)].filter(([title]) => !standing.has(title));
  if (found.length === 0) return { unplanned: [], notes: [] };
  const titles = found.slice(0, MAX_NAMED).map(([title]) => title);
  const names = `${titles.join(", ")}${found.length > titles.length ? ` and ${found.length - titles.length} more` : ""}`;
  const firstMs = Math.min(...found.map(([, leftMs]) => leftMs));
  const when = `in ${formatAge(firstMs)}${found.length > 1 ? " or later" : ""}`;
  return {
    unplanned: titles,
    notes: [
      `${names}: the plan does not cover that ${found.length > 1 ? "they leave" : "it leaves"} a member ${when}, when the toleration of its taint ends`,
    ],
  };
}
