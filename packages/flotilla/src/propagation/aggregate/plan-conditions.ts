/** Adds the members' conditions to the aggregated status of a template. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { conditionsIn } from "@flotilla/kubernetes";
import type { ConditionSums, StatusItem } from "@flotilla/kubernetes";
import { targetsOf } from "../bindings/target-clusters.ts";
import { withReleaseProgress } from "./count-release.ts";
import type { ReleaseStanding } from "./count-release.ts";

type Template = DeepReadonly<KubernetesObject> & { readonly status?: unknown };

/** One item per target: a target without a report counts too, and a member that is left does not. */
export function itemsOfTargets(
  { spec }: DeepReadonly<ResourceBinding>,
  items: readonly StatusItem[],
): readonly StatusItem[] {
  const byName = new Map(items.map((item) => [item.clusterName, item]));
  return targetsOf(spec)
    .map(({ name }) => byName.get(name) ?? { clusterName: name })
    .toSorted((a, b) => (a.clusterName < b.clusterName ? -1 : 1));
}

export interface ConditionPlan {
  readonly sums: ConditionSums;
  readonly items: readonly StatusItem[];
  readonly release?: ReleaseStanding | undefined;
  readonly now: string;
}

/** `summed` is the template with its aggregated status. Returns the template itself when nothing differs. */
export function planConditions(
  template: Template,
  summed: Template,
  { sums, items, release, now }: ConditionPlan,
): Template {
  const before: JsonObject = isObject(template.status) ? template.status : {};
  const status: JsonObject = isObject(summed.status) ? summed.status : {};
  const summedUp = sums.sum({ status, before, items });
  const next = release && sums.types.includes("Progressing") ? withReleaseProgress(summedUp, release) : summedUp;
  const known = conditionsIn(before);
  const conditions = conditionsIn(next).map((condition) => withTime(condition, known, now));
  const result = conditions.length > 0 ? { ...next, conditions } : next;
  return equalJson(result, before) ? template : { ...template, status: result };
}

/** An unchanged condition stays as it is stored; its time changes only with its status. */
function withTime(next: JsonObject, known: readonly JsonObject[], now: string): JsonObject {
  if (next["lastTransitionTime"] !== undefined) return next;
  const before = known.find(({ type }) => type === next["type"]);
  // A Pod is stored without empty texts.
  const isSame = (field: string): boolean => (before?.[field] ?? "") === (next[field] ?? "");
  if (before && ["status", "reason", "message"].every(isSame)) return before;
  const since = isSame("status") ? before?.["lastTransitionTime"] : undefined;
  return { ...next, lastTransitionTime: since ?? now };
}
