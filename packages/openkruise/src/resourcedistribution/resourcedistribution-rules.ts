/** Validation of ResourceDistribution, as in OpenKruise's webhook. */
import { dnsLabelProblems, field, labelSelectorOf } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { isObject, messageOf, type DeepReadonly } from "@flotilla/base";
import type { ResourceDistributionTargets } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import { requireGate } from "../api/plain-rejection.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { copiedKindOf, COPIED_KINDS } from "./copied-kinds.ts";
import { ResourceDistribution } from "./resourcedistribution-kind.ts";

type Resource = DeepReadonly<ResourceDistribution>["spec"]["resource"];

const WEBHOOK = "vresourcedistribution.kb.io";

const checkDistribution =
  (gates: FeatureGates) =>
  (review: Review<ResourceDistribution>): FieldError[] => {
    // The hub only propagates it; each member has its own gates.
    if (!isHub(review)) requireGate(WEBHOOK, gates, "ResourceDistributionGate");
    const { object, oldObject } = review;
    return [
      ...resourceProblems(object.spec.resource, oldObject?.spec.resource),
      ...targetProblems(object.spec.targets),
    ];
  };

function resourceProblems(resource: Resource, before: Resource | undefined): FieldError[] {
  if (!copiedKindOf(resource))
    return [
      field.invalid(
        "spec.resource",
        resource,
        `unknown or unsupported resource GroupKind, only support [${COPIED_KINDS.map(({ kind }) => kind).join(" ")}]`,
      ),
    ];
  if (before && identityOf(before) !== identityOf(resource))
    return [field.invalid("spec.resource", null, "resource apiVersion, kind, and name are immutable")];
  return [];
}

function identityOf({ apiVersion, kind, metadata }: Resource): string {
  return JSON.stringify([apiVersion, kind, isObject(metadata) ? metadata["name"] : undefined]);
}

function targetProblems(targets: DeepReadonly<ResourceDistributionTargets> = {}): FieldError[] {
  const errors: FieldError[] = [];
  const names = (list: "includedNamespaces" | "excludedNamespaces"): string[] =>
    (targets[list]?.list ?? []).map(({ name = "" }) => name);
  for (const list of ["includedNamespaces", "excludedNamespaces"] as const)
    for (const problem of names(list).flatMap(dnsLabelProblems))
      errors.push(field.invalid(`spec.targets.${list}`, targets[list], problem));
  const included = new Set(names("includedNamespaces"));
  const both = names("excludedNamespaces").filter((name) => included.has(name));
  if (both.length > 0)
    errors.push(
      field.invalid(
        "spec.targets",
        targets,
        `ambiguous targets because namespace [${both.join(" ")}] is in both IncludedNamespaces.List and ExcludedNamespaces.List`,
      ),
    );
  try {
    labelSelectorOf(targets.namespaceLabelSelector);
  } catch (error) {
    errors.push(
      field.invalid(
        "spec.targets.namespaceLabelSelector",
        targets.namespaceLabelSelector,
        `labelSelectorAsSelector error: ${messageOf(error)}`,
      ),
    );
  }
  return errors;
}

export const resourceDistributionRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(ResourceDistribution, {
    name: "resourcedistribution",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    check: checkDistribution(gates),
  }),
];
