/**
 * Computes how a member's copy of an object differs from the template. Pure.
 *
 * Cluster policies come first, then those of the object's namespace; among each the least specific selector first and
 * then by name, so that the most specific policy takes precedence. Overrides are applied after the division of replicas
 * and may contradict it.
 */
import type { ClusterOverridePolicy, OverridePolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Overriders } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { compareText, isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { matchesAffinity, type ClusterFacts } from "../policies/cluster-affinity.ts";
import { overridePriority } from "../policies/resource-selector.ts";
import { OverrideError } from "./override-error.ts";
import { overrideArgs, overrideCommand } from "./overriders/command-args.ts";
import { overrideFields } from "./overriders/field.ts";
import { overrideImages } from "./overriders/image.ts";
import { overrideAnnotations, overrideLabels } from "./overriders/labels-annotations.ts";
import { overridePlaintext } from "./overriders/plaintext.ts";

type Policy = DeepReadonly<OverridePolicy> | DeepReadonly<ClusterOverridePolicy>;

export interface OverrideInput {
  readonly object: DeepReadonly<KubernetesObject>;
  readonly cluster: ClusterFacts;
  readonly clusterOverridePolicies: readonly DeepReadonly<ClusterOverridePolicy>[];
  /** Policies of other namespaces are ignored. */
  readonly overridePolicies: readonly DeepReadonly<OverridePolicy>[];
}

/** One applied rule, as recorded on the Work. */
export interface AppliedOverride {
  readonly policyName: string;
  readonly overriders: DeepReadonly<Overriders>;
}

export interface OverridePlan {
  /** The same object when nothing applied. */
  readonly object: DeepReadonly<KubernetesObject>;
  readonly appliedClusterOverrides: AppliedOverride[];
  readonly appliedOverrides: AppliedOverride[];
}

/** Throws `OverrideError` when a rule cannot be applied. */
export function planOverrides({
  object,
  cluster,
  clusterOverridePolicies,
  overridePolicies,
}: OverrideInput): OverridePlan {
  const clusterRules = rulesFor(object, cluster, clusterOverridePolicies);
  const between = applyRules(object, clusterRules, (name) => `cluster override policy(${name})`);
  // Namespaced policies match the object as changed by the cluster policies, including its labels and even its name.
  const { namespace } = between.metadata;
  const local = namespace ? overridePolicies.filter(({ metadata }) => metadata.namespace === namespace) : [];
  const rules = rulesFor(between, cluster, local);
  return {
    object: applyRules(between, rules, (name) => `override policy(${namespace ?? ""}/${name})`),
    appliedClusterOverrides: byPolicy(clusterRules),
    appliedOverrides: byPolicy(rules),
  };
}

/** The JSON of the annotation on the Work; undefined when nothing applied, and then there is no annotation. */
export function formatApplied(applied: readonly AppliedOverride[]): string | undefined {
  return applied.length > 0 ? JSON.stringify(applied) : undefined;
}

function rulesFor(
  object: OverrideInput["object"],
  cluster: ClusterFacts,
  policies: readonly Policy[],
): AppliedOverride[] {
  return policies
    .map((policy) => ({ policy, priority: priorityOf(object, policy) }))
    .filter(({ priority }) => priority > 0)
    .sort((a, b) => a.priority - b.priority || compareText(a.policy.metadata.name, b.policy.metadata.name))
    .flatMap(({ policy }) => rulesOf(policy, cluster));
}

/** A policy without selectors matches every object. */
function priorityOf(object: OverrideInput["object"], { spec }: Policy): number {
  return spec.resourceSelectors?.length ? overridePriority(object, spec.resourceSelectors) : 1;
}

/** The rules for this cluster. A policy in the deprecated format is one rule. */
function rulesOf({ metadata, spec }: Policy, cluster: ClusterFacts): AppliedOverride[] {
  const rules = spec.overrideRules?.length
    ? spec.overrideRules
    : spec.overriders
      ? [{ targetCluster: spec.targetCluster, overriders: spec.overriders }]
      : [];
  return rules
    .filter(({ targetCluster }) => !targetCluster || matchesAffinity(cluster, targetCluster))
    .map(({ overriders }) => ({ policyName: metadata.name, overriders }));
}

function applyRules(
  object: OverrideInput["object"],
  rules: readonly AppliedOverride[],
  nameOf: (policyName: string) => string,
): OverrideInput["object"] {
  return rules.reduce<JsonObject>(
    (result, rule) => applyRule(result, rule, nameOf),
    object as unknown as JsonObject,
  ) as unknown as OverrideInput["object"];
}

/** The fixed order of a rule's overriders, independent of their order in the policy. */
function applyRule(
  object: JsonObject,
  { policyName, overriders }: AppliedOverride,
  nameOf: (policyName: string) => string,
): JsonObject {
  try {
    let result = object;
    result = overrideImages(result, overriders.imageOverrider ?? []);
    result = overrideCommand(result, overriders.commandOverrider ?? []);
    result = overrideArgs(result, overriders.argsOverrider ?? []);
    result = overrideLabels(result, overriders.labelsOverrider ?? []);
    result = overrideAnnotations(result, overriders.annotationsOverrider ?? []);
    result = overrideFields(result, overriders.fieldOverrider ?? []);
    return requireObject(overridePlaintext(result, overriders.plaintext ?? []));
  } catch (error) {
    if (!(error instanceof OverrideError)) throw error;
    throw new OverrideError(`applying override policy ${policyName}`, { cause: error, policy: nameOf(policyName) });
  }
}

/** A plaintext override can replace everything, even with a value that is not a Kubernetes object. */
function requireObject(value: Json): JsonObject {
  if (!isObject(value) || typeof value["kind"] !== "string" || !isObject(value["metadata"]))
    throw new OverrideError("the result is not a Kubernetes object: it has no kind or no metadata");
  return value;
}

/** Recorded by policy, so that the annotation does not depend on the order of rules. */
function byPolicy(applied: readonly AppliedOverride[]): AppliedOverride[] {
  return [...applied].sort((a, b) => compareText(a.policyName, b.policyName));
}
