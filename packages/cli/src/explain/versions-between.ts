/**
 * Names objects that are propagated once as they are before their change: the same files change policies, overrides or
 * quotas, which are applied first. A FederatedResourceQuota counts that version, and a Retain rule may keep its values in
 * a new copy. A plan has only the result. Pure.
 */
import { gvkOf, objectTitle, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { MemberChange, TemplatePlan } from "@flotilla/flotilla";
import { FederatedResourceQuota } from "@flotilla/karmada";
import { listed } from "../doctor/doctor-check.ts";
import { isSame } from "./apply-input.ts";
import type { Applied } from "./apply-input.ts";

type Object = DeepReadonly<KubernetesObject>;
/** Policies, override policies and quotas. */
const { group: POLICY_GROUP } = FederatedResourceQuota;

interface Planned {
  templates: readonly Pick<TemplatePlan, "template" | "binding">[];
  quotas: readonly Object[];
  applied: readonly Applied[];
  /** Copies that the plan creates. */
  created: readonly Pick<MemberChange, "cluster" | "object">[];
  /** The name of the customization with a Retain rule for the kind. */
  retainRuleOf(object: Object): string | undefined;
}

export function versionsBetween({ templates, quotas, applied, created, retainRuleOf }: Planned): string[] {
  const changed = applied.filter(({ outcome }) => outcome !== "unchanged");
  const first = changed.filter(({ object }) => gvkOf(object).group === POLICY_GROUP);
  return templates.flatMap(({ template, binding }) => {
    const { namespace } = template.metadata;
    const isNear = ({ metadata: other }: Object): boolean => !other.namespace || other.namespace === namespace;
    const own = changed.find(({ object }) => isSame(object, template));
    if (!own?.before || !first.some(({ object }) => isNear(object))) return [];
    const title = `${objectTitle(template)}: these files change policies, overrides or quotas first, so`;
    const quota = quotas.find((each) => each.metadata.namespace === namespace);
    const rule = retainRuleOf(template);
    const copies = created.filter(({ object }) => isCopyOf(object, template)).map(({ cluster }) => cluster);
    return [
      ...(quota && binding?.spec.replicas
        ? [
            `${title} FederatedResourceQuota ${quota.metadata.name} counts it once as it is now: it may be placed, or ` +
              "held back, with the version before its change",
          ]
        : []),
      ...(rule !== undefined && copies.length > 0
        ? [
            `${title} ${listed(copies)} may get it as it is now, and the Retain rule of ${rule} may keep values of ` +
              "that copy, with the version before its change",
          ]
        : []),
    ];
  });
}

const isCopyOf = ({ apiVersion, kind, namespace, name }: MemberChange["object"], template: Object): boolean =>
  kind === template.kind &&
  parseApiVersion(apiVersion).group === gvkOf(template).group &&
  namespace === template.metadata.namespace &&
  name === template.metadata.name;
