/**
 * Defaults of a UnitedDeployment in OpenKruise's webhook, and two short forms that the webhook would reject and the hub
 * accepts: `topology.pools` for subsets, and a bare pod template, which becomes a template of Deployments.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { change, changeItems, decodedPart, fill } from "@flotilla/apimachinery";
import type { Review } from "@flotilla/apimachinery";
import {
  completeClaims,
  completeSelector,
  completesTemplate,
  completeTemplate,
  decodeTemplates,
} from "../api/template-rules.ts";
import type {
  UnitedDeployment,
  UnitedDeploymentSpec,
  UnitedDeploymentSubset,
  UnitedDeploymentTemplate,
  UnitedDeploymentTopology,
} from "./uniteddeployment-types.ts";
import { isHub, rejectionOf } from "../api/webhook.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<UnitedDeploymentSpec>;

const NAME = "uniteddeployment";

export const completeUnitedDeployment =
  (gates: FeatureGates) =>
  (deployment: Read<UnitedDeployment>, review: Review<UnitedDeployment>): Read<UnitedDeployment> =>
    change(deployment, "spec", (given) => {
      const isAlpha = deployment.apiVersion === "apps.kruise.io/v1alpha1";
      let spec: Spec = isHub(review) ? expandShortForms(given, isAlpha, review.warn) : given;
      if (!isAlpha) spec = change(spec, "template", decodeTemplate);
      spec = fill(spec, { revisionHistoryLimit: 10, updateStrategy: {} });
      spec = completeSelector(spec, labelsOf(spec.template), "the labels of the template", review);
      spec = change(spec, "updateStrategy", (strategy) => {
        const typed = fill(strategy, { type: "Manual" });
        return typed.type === "Manual" ? fill(typed, { manualUpdate: {} }) : typed;
      });
      if (completesTemplate(spec.template, review.oldObject, gates))
        spec = change(spec, "template", completeStatefulSets);
      return change(spec, "topology", (topology) => change(topology, "subsets", completeSubsets));
    });

/** Of the four templates upstream defaults only this one. */
function completeStatefulSets(template: Read<UnitedDeploymentTemplate>): Read<UnitedDeploymentTemplate> {
  return change(template, "statefulSetTemplate", (sets) =>
    change(sets, "spec", (spec) =>
      change(change(spec, "template", completeTemplate), "volumeClaimTemplates", completeClaims),
    ),
  );
}

/** When any subset has limits, every subset gets a minReplicas. */
function completeSubsets(subsets: readonly Read<UnitedDeploymentSubset>[]): readonly Read<UnitedDeploymentSubset>[] {
  if (!Array.isArray(subsets)) return subsets;
  const hasLimits = subsets.some((subset) => subset?.minReplicas !== undefined || subset?.maxReplicas !== undefined);
  if (!hasLimits || subsets.some((subset) => subset?.replicas !== undefined)) return subsets;
  return changeItems<UnitedDeploymentSubset>(subsets, (subset) => fill(subset, { minReplicas: 0 }));
}

export function labelsOf(
  template: Read<UnitedDeploymentTemplate> | undefined,
): Readonly<Record<string, string>> | undefined {
  const { statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, deploymentTemplate } = template ?? {};
  return (statefulSetTemplate ?? advancedStatefulSetTemplate ?? cloneSetTemplate ?? deploymentTemplate)?.metadata
    ?.labels;
}

const TABLE = "apps-kruise-v1alpha1";
const TYPES = {
  statefulSetTemplate: "StatefulSetTemplateSpec",
  advancedStatefulSetTemplate: "AdvancedStatefulSetTemplateSpec",
  deploymentTemplate: "DeploymentTemplateSpec",
} as const;

/** v1beta1 as a whole is in no fact table; three of its four templates are. */
function decodeTemplate(given: Read<UnitedDeploymentTemplate>): Read<UnitedDeploymentTemplate> {
  let template = given;
  for (const [name, type] of Object.entries(TYPES) as [keyof typeof TYPES, string][]) {
    template = change(
      template,
      name,
      (value) => decodedPart(TABLE, type, value as unknown as JsonObject, rejectionOf(NAME)) as never,
    );
  }
  return change(template, "cloneSetTemplate", (sets) =>
    change(sets, "spec", (spec) => decodeTemplates(spec, rejectionOf(NAME))),
  );
}

/** Expands short forms. */
export function expandShortForms(given: Spec, isAlpha: boolean, warn: (text: string) => void): Spec {
  let spec = change(given, "topology", (topology) => {
    const { pools, ...rest } = topology as Read<UnitedDeploymentTopology> & { pools?: Json };
    if (!Array.isArray(pools) || rest.subsets !== undefined) return topology;
    warn("spec.topology.pools was read as spec.topology.subsets; use spec.topology.subsets");
    return { ...rest, subsets: pools } as unknown as Read<UnitedDeploymentTopology>;
  });
  spec = change(spec, "template", (template) => {
    const { metadata, spec: pods } = template as { metadata?: Json; spec?: Json };
    if (!isObject(pods) || Object.keys(template).some((key) => key !== "metadata" && key !== "spec")) return template;
    warn(
      "spec.template was read as the pod template of spec.template.deploymentTemplate; use spec.template.deploymentTemplate",
    );
    const { labels } = isObject(metadata) ? metadata : {};
    const selector = given.selector ?? { matchLabels: labels ?? {} };
    const sets = {
      metadata: isObject(labels) ? { labels } : {},
      spec: { selector, template: { metadata: isObject(metadata) ? metadata : undefined, spec: pods } },
    };
    return {
      deploymentTemplate: isAlpha
        ? decodedPart(TABLE, "DeploymentTemplateSpec", sets as unknown as JsonObject, rejectionOf(NAME))
        : sets,
    } as unknown as Read<UnitedDeploymentTemplate>;
  });
  return spec;
}
