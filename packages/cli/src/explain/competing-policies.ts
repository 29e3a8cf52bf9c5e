/**
 * Names the resources that several changed policies select: the policy that the hub reads first may claim them, and a plan
 * does not know which that is. Pure.
 */
import { gvkOf, objectTitle, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { matchesResource } from "@flotilla/flotilla";
import type { FleetSnapshot, TemplatePlan } from "@flotilla/flotilla";
import { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { Applied } from "./apply-input.ts";

type Object = DeepReadonly<KubernetesObject>;
type Policy = DeepReadonly<PropagationPolicy>;

/** `unserved` has the kinds that the hub does not serve in the version of a selector, which selects nothing. */
export function competingPolicies(
  templates: readonly Pick<TemplatePlan, "template">[],
  applied: readonly Applied[],
  unserved: FleetSnapshot["unserved"] = [],
): string[] {
  const dead = new Set(unserved.map(keyOf));
  const changed = applied.filter(
    ({ object, outcome }) =>
      outcome !== "unchanged" &&
      gvkOf(object).group === PropagationPolicy.group &&
      (object.kind === PropagationPolicy.kind || object.kind === ClusterPropagationPolicy.kind),
  );
  if (changed.length < 2) return [];
  return templates.flatMap(({ template }) => {
    const names = changed
      .filter(({ before, object }) => [before, object].some((policy) => policy && selects(policy, template, dead)))
      .map(({ object }) => objectTitle(object));
    return names.length < 2
      ? []
      : [
          `${objectTitle(template)}: ${names.join(" and ")} change together and select it, so another of them than planned ` +
            "may claim it with what it depends on: the first that the hub reads; apply them one after the other to be certain",
        ];
  });
}

const keyOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }): string => `${apiVersion}/${kind}`;

/** In every version that the hub serves. */
function selects(policy: Object, template: Object, dead: ReadonlySet<string>): boolean {
  const { namespace } = policy.metadata;
  if (namespace && template.metadata.namespace && namespace !== template.metadata.namespace) return false;
  return (policy as Policy).spec.resourceSelectors.some(
    (selector) =>
      !dead.has(keyOf(selector)) &&
      parseApiVersion(selector.apiVersion).group === gvkOf(template).group &&
      matchesResource({ ...template, apiVersion: selector.apiVersion }, [selector]),
  );
}
