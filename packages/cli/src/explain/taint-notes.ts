/** What a plan says about taints besides the changes: what leaves later, and what stays. Pure. */
import { formatAge, objectTitle } from "@flotilla/apimachinery";
import type { FleetPlan } from "@flotilla/flotilla";

/** A taint may concern every workload of a member. */
const MAX_NAMED = 5;

type Planned = Pick<FleetPlan["templates"][number], "template" | "leavesInMs" | "staysOn">;

export interface Tainted {
  /** When objects leave a member whose taint they tolerate for a time, by title. */
  leavesInMs: ReadonlyMap<string, number>;
  /** Objects that stay on a tainted member, with the member. */
  stays: ReadonlyMap<string, { title: string; cluster: string }>;
}

export function taintedIn(templates: readonly Planned[]): Tainted {
  const found = templates.map(({ template, ...planned }) => ({ title: objectTitle(template), ...planned }));
  return {
    leavesInMs: new Map(
      found.flatMap(({ title, leavesInMs }) => (leavesInMs === undefined ? [] : [[title, leavesInMs] as const])),
    ),
    stays: new Map(
      found.flatMap(({ title, staysOn = [] }) =>
        staysOn.map((cluster) => [`${title} ${cluster}`, { title, cluster }] as const),
      ),
    ),
  };
}

/** `standing` is the state without the plan. */
export function taintNotes(templates: readonly Planned[], standing: Tainted): { unplanned: string[]; notes: string[] } {
  const planned = taintedIn(templates);
  const leaving = [...planned.leavesInMs].filter(([title]) => !standing.leavesInMs.has(title));
  const stays = [...planned.stays].flatMap(([id, each]) => (standing.stays.has(id) ? [] : [each]));
  const byCluster = Map.groupBy(stays, ({ cluster }) => cluster);
  return {
    unplanned: leaving.slice(0, MAX_NAMED).map(([title]) => title),
    notes: [
      ...(leaving.length > 0 ? [leavingText(leaving)] : []),
      ...Array.from(byCluster, ([cluster, of]) => {
        const isOne = of.length === 1;
        return (
          `${someOf(of.map(({ title }) => title))}: ${isOne ? "it stays" : "they stay"} on ${cluster}, because ` +
          `${isOne ? "its policy has" : "their policies have"} no failover.cluster, unless the hub was started with ` +
          "--enable-no-execute-taint-eviction"
        );
      }),
    ],
  };
}

function leavingText(leaving: readonly (readonly [string, number])[]): string {
  const isOne = leaving.length === 1;
  const firstMs = Math.min(...leaving.map(([, leftMs]) => leftMs));
  return (
    `${someOf(leaving.map(([title]) => title))}: the plan does not cover that ${isOne ? "it leaves" : "they leave"} a ` +
    `member in ${formatAge(firstMs)}${isOne ? "" : " or later"}, when the toleration of its taint ends`
  );
}

const someOf = (titles: readonly string[]): string =>
  titles.length <= MAX_NAMED
    ? titles.join(", ")
    : `${titles.slice(0, MAX_NAMED).join(", ")} and ${titles.length - MAX_NAMED} more`;
