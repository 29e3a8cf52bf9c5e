/** Renders the report of a store as text. Pure. */
import type { StoreReport } from "../command.ts";

/** Further objects are counted; `-o json` has all of them. */
const SHOWN = 20;

export const isDamaged = (report: StoreReport): boolean => {
  const { structure, damaged, damagedHistory, unknownObjects, lostUpTo } = report;
  return structure.length + damaged.length + damagedHistory + unknownObjects > 0 || lostUpTo !== undefined;
};

export const withoutCopy = ({ damaged }: StoreReport): number =>
  damaged.filter(({ from }) => from === "nothing").length;

export function renderStore(data: string, report: StoreReport): string {
  const { objects, rows, revision, hasChecksums, structure, damaged, damagedHistory, unknownObjects, lostUpTo } =
    report;
  return [
    `store of ${data}: ${objects} objects intact, ${rows} values verified, revision ${revision}`,
    ...(hasChecksums
      ? []
      : ["values have no checksums yet: an earlier version wrote them; the next start adds checksums"]),
    ...structure.map((problem) => `file: ${problem}`),
    ...(lostUpTo === undefined
      ? []
      : [`lost: writes up to revision ${lostUpTo} were acknowledged, and those after ${revision} are gone`]),
    ...damaged
      .slice(0, SHOWN)
      .map(({ object, problem, from, revision: of }) => `${object}: ${problem}; ${REMEDIES[from](of)}`),
    ...(damaged.length > SHOWN ? [`and ${damaged.length - SHOWN} more damaged objects`] : []),
    ...(unknownObjects > 0 ? [`${unknownObjects} more objects are gone, and their names are not readable`] : []),
    ...(damagedHistory > 0
      ? [`history: ${damagedHistory} former values are damaged; objects are not affected, watches start again`]
      : []),
    isDamaged(report) ? "the store is damaged" : "no damage found",
  ].join("\n");
}

const REMEDIES: Readonly<Record<StoreReport["damaged"][number]["from"], (revision: number) => string>> = {
  log: () => "it can be restored without loss",
  history: (revision) => `it can be restored as it was at revision ${revision}`,
  snapshot: (revision) => `it can be restored from the snapshot, as it was at revision ${revision}`,
  nothing: () => "there is no intact copy",
};
