/** A Job's successPolicy: which indexes, or how many, are enough. */
import { countCommon, countIndexes, parseIndexes } from "./indexes.ts";
import type { Indexes } from "./indexes.ts";
import type { ReadonlyJob } from "./job-pods.ts";

/** The condition message once a rule is met; undefined before. */
export function metSuccessPolicy({ spec }: ReadonlyJob, succeeded: Indexes): string | undefined {
  if (succeeded.length === 0) return undefined;
  const place = (spec?.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined)
      return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
    const wanted = parseIndexes(succeededIndexes, spec?.completions ?? 0);
    const common = countCommon(wanted, succeeded);
    return (
      wanted.length > 0 &&
      (common === countIndexes(wanted) || (succeededCount !== undefined && common >= succeededCount))
    );
  });
  return place < 0 ? undefined : `Matched rules at index ${place}`;
}
