/**
 * Names workloads that a FederatedResourceQuota may see as they are before their change: the same files change policies,
 * overrides or the quota itself, which are applied first. A plan has only the result. Pure.
 */
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { TemplatePlan } from "@flotilla/flotilla";
import { FederatedResourceQuota } from "@flotilla/karmada";
import { isSame } from "./apply-input.ts";
import type { Applied } from "./apply-input.ts";

type Object = DeepReadonly<KubernetesObject>;
/** Policies, override policies and quotas. */
const { group: POLICY_GROUP } = FederatedResourceQuota;

export function versionsBetween(
  templates: readonly Pick<TemplatePlan, "template" | "binding">[],
  quotas: readonly Object[],
  applied: readonly Applied[],
): string[] {
  const changed = applied.filter(({ outcome }) => outcome !== "unchanged");
  const first = changed.filter(({ object }) => gvkOf(object).group === POLICY_GROUP);
  return templates.flatMap(({ template, binding }) => {
    const { kind, metadata } = template;
    const { namespace, name } = metadata;
    const isNear = ({ metadata: other }: Object): boolean => !other.namespace || other.namespace === namespace;
    const quota = quotas.find((each) => each.metadata.namespace === namespace);
    const own = changed.find(({ object }) => isSame(object, template));
    if (!quota || !own?.before || !binding?.spec.replicas || !first.some(({ object }) => isNear(object))) return [];
    return [
      `${kind} ${namespace ?? ""}/${name}: these files change policies, overrides or quotas first, so ` +
        `FederatedResourceQuota ${quota.metadata.name} counts it once as it is now: it may be placed, or held back, with ` +
        "the version before its change",
    ];
  });
}
