/**
 * Selects member statuses that refer to the newest template. Karmada's rules sum every number unchecked, so that pods
 * which a member updated to the previous template count as updated to the new one until it catches up. Before
 * Flotilla's own rules sum the statuses of a rollout:
 *
 * - a member that has not observed the newest template, or has not got it, counts as having updated nothing, unless its
 * counters belong to the same release: a lower partition is a newer template, and its pods are updated already;
 * - the fleet's current revision stays that of a member that has not advanced, while there is one;
 * - the newest revision is named if members agree on its name. Overrides change the pods, and so the name.
 *
 * User-defined rules get the statuses as reported.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, textOf } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import { countsRelease, UPDATED_COUNTERS } from "../divide/counted-release.ts";
import { digestOf } from "../divide/release.ts";

/** Names of the newest revision; a lagging member's names refer to an older one. */
const NEWEST_REVISION = ["updateRevision", "updatedRevision", "daemonSetHash"];

/**
 * The kind with its statuses summed as above; third-party kinds are returned unchanged. The rule itself stays as
 * recorded from Karmada.
 */
export function summingNewest<K extends KindInterpreter>(kind: K): K {
  const { group, aggregateStatus } = kind;
  if (group !== "apps.kruise.io" || !aggregateStatus) return kind;
  return {
    ...kind,
    aggregateStatus: (template: DeepReadonly<KubernetesObject>, items: readonly StatusItem[]) =>
      aggregateStatus(template, newestItems(template, items)),
  };
}

/** Returns the items themselves if every member refers to the newest template. */
export function newestItems(
  template: DeepReadonly<KubernetesObject>,
  items: readonly StatusItem[],
): readonly StatusItem[] {
  const isLate = items.map(
    ({ status, applied }) => isObject(status) && (applied === false || lags(status, template.metadata.generation ?? 0)),
  );
  if (!isLate.includes(true)) return namedItems(items, isLate);
  const release = digestOf((template as { spec?: { template?: unknown } }).spec?.template);
  return namedItems(
    items,
    isLate.map((late, index) => late && !countsRelease(items[index]?.status, release)),
  );
}

/** The items without the counters of members that lag, and without names of revisions that do not hold for the fleet. */
function namedItems(items: readonly StatusItem[], isStale: readonly boolean[]): readonly StatusItem[] {
  const hasFresh = isStale.includes(false);
  const isAhead = items.map(({ status }, index) => !isStale[index] && isObject(status) && hasAdvanced(status));
  // A member without a current revision does not hold the others back.
  const isSplit = items.some(
    ({ status }, index) => !isAhead[index] && isObject(status) && textOf(status["currentRevision"]) !== "",
  );
  const disputed = NEWEST_REVISION.filter((field) => hasSeveral(items, field, isStale));
  if (!isStale.includes(true) && !(isSplit && isAhead.includes(true)) && disputed.length === 0) return items;
  return items.map((item, index) => {
    if (isStale[index]) return cleared(item, hasFresh ? [...UPDATED_COUNTERS, ...NEWEST_REVISION] : UPDATED_COUNTERS);
    const fields = isAhead[index] && isSplit ? ["currentRevision", ...disputed] : disputed;
    return fields.length > 0 ? cleared(item, fields) : item;
  });
}

/** Whether up-to-date members report different names for a revision. */
function hasSeveral(items: readonly StatusItem[], field: string, isStale: readonly boolean[]): boolean {
  let name = "";
  for (const [index, { status }] of items.entries()) {
    const own = isStale[index] || !isObject(status) ? "" : textOf(status[field]);
    if (own === "") continue;
    if (name !== "" && name !== own) return true;
    name = own;
  }
  return false;
}

/** A member that does not report a generation does not count as lagging. */
function lags(status: JsonObject, generation: number): boolean {
  const { resourceTemplateGeneration, generation: own, observedGeneration } = status;
  if (typeof resourceTemplateGeneration === "number" && resourceTemplateGeneration < generation) return true;
  return typeof own === "number" && countOf(observedGeneration) < own;
}

function hasAdvanced({ currentRevision, updateRevision, updatedRevision }: JsonObject): boolean {
  return (
    textOf(currentRevision) !== "" && textOf(currentRevision) === (textOf(updateRevision) || textOf(updatedRevision))
  );
}

/** Only existing fields are cleared: a field that no member reports must not appear. */
function cleared(item: StatusItem, fields: readonly string[]): StatusItem {
  const { status } = item;
  if (!isObject(status)) return item;
  const next: JsonObject = { ...status };
  for (const field of fields) {
    if (typeof next[field] === "number") next[field] = 0;
    else if (typeof next[field] === "string") next[field] = "";
  }
  return { ...item, status: next };
}
