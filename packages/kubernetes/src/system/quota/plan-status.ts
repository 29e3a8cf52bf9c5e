/** The resources of a ResourceQuota, and its desired status. */
import {
  onlyAmounts,
  readAmounts,
  sameAmounts,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
  type Amounts,
} from "../../quota/amounts.ts";
import { quotaEvaluatorOf, resourceOfCount } from "../../quota/evaluator.ts";
import { type ResourceQuota } from "../../resourcequota/resourcequota-kind.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";

type Quota = DeepReadonly<ResourceQuota>;

export interface CountedResource {
  group: string;
  resource: string;
}

/** Resources with more names than `count/…`. */
const NAMED: readonly CountedResource[] = [
  "pods",
  "services",
  "persistentvolumeclaims",
  "configmaps",
  "resourcequotas",
  "replicationcontrollers",
  "secrets",
].map((resource) => ({ group: "", resource }));

/** The resources that a quota counts, each once. */
export function countedResources({ spec }: Quota): CountedResource[] {
  const names = Object.keys(spec?.hard ?? {});
  const named = NAMED.filter(({ group, resource }) =>
    names.some((name) => quotaEvaluatorOf(group, resource)?.counts(name)),
  );
  const others = names
    .map(resourceOfCount)
    .filter(
      (counted) =>
        counted !== undefined &&
        !named.some(({ group, resource }) => group === counted.group && resource === counted.resource),
    );
  return [...named, ...(others as CountedResource[])];
}

export interface StatusPlan {
  /** Unset when the stored status is correct. */
  status?: ResourceQuota["status"];
  /**
   * The usage is lower than the stored one: a charged object that is not stored yet looks the same, so the count is
   * repeated.
   */
  shrinks: boolean;
}

/** `usage` is the counted usage, without names that nothing counts, such as those of kinds that are not served. */
export function planStatus(quota: Quota, usage: Amounts): StatusPlan {
  const hard = quota.spec?.hard ?? {};
  const used = onlyAmounts(usage, new Set(Object.keys(hard)));
  const stored = readAmounts(quota.status?.used);
  const shrinks = withoutZeros(subtractAmounts(stored, used)).size > 0;
  if (equalJson(quota.status?.hard ?? {}, hard) && sameAmounts(stored, used)) return { shrinks };
  return { status: { hard: { ...hard }, used: writeAmounts(used) }, shrinks };
}
