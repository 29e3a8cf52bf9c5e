/**
 * Predicts which ResourceQuotas of a member's namespace have no room for what a plan adds there. Pods are counted by the
 * template of the copy, as the members' admission counts them; pods that a rolling update adds for a while are not. Pure.
 */
import { multiplyQuantity } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import {
  addAmounts,
  exceededText,
  onlyAmounts,
  quotaEvaluatorOf,
  quotaMatches,
  readAmounts,
  subtractAmounts,
  withoutZeros,
} from "@flotilla/kubernetes";
import type { Amounts, ResourceQuota } from "@flotilla/kubernetes";

type Manifest = DeepReadonly<KubernetesObject>;

/** A copy, and how many pods it asks for. */
export interface SizedCopy {
  copy: Manifest;
  pods: number;
}

/** One changed copy of the namespace. */
export interface CopyGrowth {
  /** `Deployment shop/web` */
  resource: string;
  before?: SizedCopy | undefined;
  after?: SizedCopy | undefined;
  /** The resource of a copy that is created: `deployments`. */
  plural?: string | undefined;
  group: string;
}

export interface MemberQuotaProblem {
  resource: string;
  /** `exceeded quota: team, requested: …` */
  message: string;
}

const NONE: Amounts = new Map();

/** One problem for each quota and each copy that adds to it. */
export function planMemberQuota(
  quotas: readonly DeepReadonly<ResourceQuota>[],
  copies: readonly CopyGrowth[],
  nowMs: number,
): MemberQuotaProblem[] {
  return quotas.flatMap((quota) => {
    const limits = readAmounts(quota.status?.hard ?? quota.spec?.hard);
    const used = readAmounts(quota.status?.used);
    const counted = copies.map(({ resource, before, after, group, plural }) => ({
      resource,
      before: before ? usageOf(before, quota, limits, nowMs) : NONE,
      after: addAmounts(
        after ? usageOf(after, quota, limits, nowMs) : NONE,
        after && plural !== undefined ? countOf(after.copy, { group, plural }, quota, limits, nowMs) : NONE,
      ),
    }));
    const sum = (part: "before" | "after"): Amounts => counted.map((each) => each[part]).reduce(addAmounts, NONE);
    const charge = withoutZeros(subtractAmounts(sum("after"), sum("before")));
    const message = exceededText(quota.metadata.name, { charge, used, hard: limits });
    if (message === undefined) return [];
    return counted
      .filter(({ before, after }) => withoutZeros(subtractAmounts(after, before)).size > 0)
      .map(({ resource }) => ({ resource, message }));
  });
}

function usageOf(
  { copy, pods }: SizedCopy,
  quota: DeepReadonly<ResourceQuota>,
  limits: Amounts,
  nowMs: number,
): Amounts {
  const pod = podOf(copy);
  const each = pods === 0 || !pod ? NONE : amountsOf(pod, { group: "", plural: "pods" }, quota, limits, nowMs);
  return new Map([...each].map(([name, amount]) => [name, multiplyQuantity(amount, pods)]));
}

const countOf = (copy: Manifest, type: ResourceType, ...rest: CountedBy): Amounts => amountsOf(copy, type, ...rest);

type ResourceType = { group: string; plural: string };
type CountedBy = [quota: DeepReadonly<ResourceQuota>, limits: Amounts, nowMs: number];

function amountsOf(
  object: DeepReadonly<JsonObject>,
  { group, plural }: ResourceType,
  ...[quota, limits, nowMs]: CountedBy
): Amounts {
  const evaluator = quotaEvaluatorOf(group, plural);
  if (!evaluator || !quotaMatches(quota, limits.keys(), evaluator, object)) return NONE;
  return onlyAmounts(evaluator.usage(object, nowMs), new Set(limits.keys()));
}

/** A pod of the copy; undefined for a kind without a pod template. */
function podOf({ spec }: Manifest & { readonly spec?: unknown }): DeepReadonly<JsonObject> | undefined {
  const template = isObject(spec) ? spec["template"] : undefined;
  const podSpec = isObject(template) ? template["spec"] : undefined;
  if (!isObject(podSpec) || !Array.isArray(podSpec["containers"])) return undefined;
  return { apiVersion: "v1", kind: "Pod", metadata: {}, spec: podSpec };
}
