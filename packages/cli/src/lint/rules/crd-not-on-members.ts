/** Finds custom kinds that are propagated to members without their CRD. */
import { kruiseKinds } from "@flotilla/openkruise";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { parseApiVersion } from "@flotilla/apimachinery";
import { Workflow } from "@flotilla/argo";
import { fieldOf, withoutField } from "../field-of-message.ts";
import { itemsAt, textAt } from "../fields.ts";
import { defineRule } from "../rule.ts";

const BUILT_IN = new Set(kubernetesKinds.map(({ group, kind }) => `${group}/${kind}`));
/** OpenKruise and Argo are installed on members by their charts, and the hub serves their kinds itself. */
const INSTALLED_GROUPS = new Set(["rollouts.kruise.io", ...kruiseKinds.map(({ group }) => group), Workflow.group]);

export const crdNotOnMembers = defineRule({
  id: "crd-not-on-members",
  severity: "warning",
  summary: "a policy propagates a custom kind to members without its CRD",
  why:
    "A member rejects objects of a kind that it does not serve. The CRD on the hub stays on the hub unless a " +
    "ClusterPropagationPolicy selects it; until then the scheduler skips the members.",
  fix:
    "Add a ClusterPropagationPolicy that selects the CustomResourceDefinition for the same members, or install " +
    "it there by other means and disable this rule.",
  *check({ policies, of, selectedBy, manifests, answers }) {
    for (const manifest of manifests) {
      for (const warning of (answers.of(manifest)?.warnings ?? []).filter(isAboutUnservedKind)) {
        const path = fieldOf(warning);
        yield { manifest, path, message: withoutField(warning, path) };
      }
    }
    const definitions = of("apiextensions.k8s.io/CustomResourceDefinition");
    const sent = new Set(
      policies
        .filter(({ kind }) => kind === "ClusterPropagationPolicy")
        .flatMap((policy) => selectedBy(policy).map(({ manifest }) => manifest)),
    );
    for (const policy of policies) {
      for (const { item, path } of itemsAt(policy.object, "spec", "resourceSelectors")) {
        const { group } = parseApiVersion(textAt(item, "apiVersion"));
        const kind = textAt(item, "kind");
        if (
          BUILT_IN.has(`${group}/${kind}`) ||
          INSTALLED_GROUPS.has(group) ||
          group === "apiextensions.k8s.io" ||
          !group.includes(".")
        )
          continue;
        const definition = definitions.find(
          ({ object }) => textAt(object, "spec", "group") === group && textAt(object, "spec", "names", "kind") === kind,
        );
        if (definition && sent.has(definition)) continue;
        yield {
          manifest: policy,
          path,
          message: definition
            ? `it selects ${kind} of ${group}, and no ClusterPropagationPolicy selects ${definition.title}`
            : `it selects ${kind} of ${group}, whose CustomResourceDefinition is not among the files`,
        };
      }
    }
  },
});

/** Other rules leave these warnings of a hub with members to this one. */
export const isAboutUnservedKind = (warning: string): boolean =>
  warning.endsWith(" until its CustomResourceDefinition is there");
