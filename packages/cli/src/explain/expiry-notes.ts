/** What a plan says about objects that are deleted after their time to live, besides the changes of members. Pure. */
import { formatAge, objectTitle } from "@flotilla/apimachinery";
import type { FleetPlan } from "@flotilla/flotilla";

type Planned = Pick<FleetPlan["templates"][number], "template" | "expiresAtMs" | "isExpired">;

/** By title: when finished objects are deleted. */
export type Expiring = ReadonlyMap<string, { readonly atMs: number; readonly isExpired: boolean }>;

export const expiringIn = (templates: readonly Planned[]): Expiring =>
  new Map(
    templates.flatMap(({ template, expiresAtMs, isExpired = false }) =>
      expiresAtMs === undefined ? [] : [[objectTitle(template), { atMs: expiresAtMs, isExpired }] as const],
    ),
  );

/** `standing` is the state without the plan. */
export function expiryNotes(
  templates: readonly Planned[],
  standing: Expiring,
  nowMs: number,
): { unplanned: string[]; notes: string[] } {
  const changed = [...expiringIn(templates)].filter(([title, { atMs }]) => standing.get(title)?.atMs !== atMs);
  return {
    unplanned: changed.flatMap(([title, { isExpired }]) => (isExpired ? [] : [title])),
    notes: changed.map(([title, { atMs, isExpired }]) =>
      isExpired
        ? `${title}: it has finished, and is deleted from the hub at once, because its time to live has passed`
        : `${title}: the plan does not cover that it is deleted in ${formatAge(Math.max(0, atMs - nowMs))}, when its time to live has passed`,
    ),
  };
}
