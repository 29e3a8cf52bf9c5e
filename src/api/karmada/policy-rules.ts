/**
 * Defaults and rules of PropagationPolicy and ClusterPropagationPolicy.
 *
 * What the pipeline does not carry out is refused, so that no policy is accepted and then ignored. Karmada also sets a
 * finalizer; here the match stage learns of a deleted policy from its watch, so nothing has to hold the policy back.
 */
import type { DeepReadonly } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { Review } from "../admission.ts";
import { checkUnchanged, notSupportedYet, wrong } from "../field-errors.ts";
import { change, changeItems, fill } from "../fill.ts";
import type { ClusterPropagationPolicy, Placement, PropagationPolicy, PropagationSpec, ReplicaSchedulingStrategy, ResourceSelector } from "../facts/policy-karmada-v1alpha1.ts";
import { checkToleration } from "../core/pod-validation.ts";
import { checkClusterAffinity } from "./cluster-affinity-rules.ts";
import { withPermanentId } from "./permanent-id.ts";

export const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
export const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";

type Read<T> = DeepReadonly<T>;
type Policy = PropagationPolicy | ClusterPropagationPolicy;

export function completePolicy<T extends Policy>(review: Review<T>, idLabel: string): Read<T> {
  const policy = withPermanentId(review, idLabel) as Read<Policy>;
  return change(policy, "spec", (spec) => completeSpec(spec, policy.metadata.namespace)) as Read<T>;
}

function completeSpec(spec: Read<PropagationSpec>, namespace: string | undefined): Read<PropagationSpec> {
  let result: Read<PropagationSpec> = fill(spec, { schedulerName: "default-scheduler" });
  if (namespace !== undefined) result = change(result, "resourceSelectors", (selectors) => inNamespace(selectors, namespace));
  return change(result, "placement", (placement) => change(placement, "replicaScheduling", completeScheduling));
}

/** A policy of a namespace selects there. */
export function inNamespace(selectors: readonly Read<ResourceSelector>[], namespace: string): readonly Read<ResourceSelector>[] {
  return changeItems<ResourceSelector>(selectors, (selector) => (selector.namespace ? selector : { ...selector, namespace }));
}

function completeScheduling(strategy: Read<ReplicaSchedulingStrategy>): Read<ReplicaSchedulingStrategy> {
  const { replicaSchedulingType = "Divided" } = strategy;
  return replicaSchedulingType === "Divided" ? fill(strategy, { replicaDivisionPreference: "Weighted" }) : strategy;
}

export function checkPolicy<T extends Policy>(review: Review<T>, idLabel: string): FieldError[] {
  const policy: Read<Policy> = review.object;
  const old: Read<Policy> | undefined = review.oldObject;
  const { spec } = policy;
  return [
    ...checkSelectors(spec.resourceSelectors, policy.metadata.namespace),
    ...(spec.placement ? checkPlacement("spec.placement", spec.placement) : []),
    ...unsupported(spec),
    ...(old ? checkUnchanged("spec.schedulerName", spec.schedulerName, old.spec.schedulerName) : []),
    ...(old?.metadata.labels?.[idLabel] ? checkUnchanged(`metadata.labels[${idLabel}]`, policy.metadata.labels?.[idLabel], old.metadata.labels[idLabel]) : []),
  ];
}

export function checkSelectors(selectors: readonly Read<ResourceSelector>[], policyNamespace: string | undefined): FieldError[] {
  return selectors.flatMap(({ namespace }, index) =>
    policyNamespace !== undefined && namespace !== undefined && namespace !== policyNamespace
      ? [wrong(`spec.resourceSelectors[${index}].namespace`, namespace, `a policy selects only in its own namespace ${JSON.stringify(policyNamespace)}`)]
      : [],
  );
}

/** Fields of the spec whose feature is still to come, with the values that ask for it. */
function unsupported(spec: Read<PropagationSpec>): FieldError[] {
  const asked: Record<string, boolean> = {
    propagateDeps: spec.propagateDeps === true,
    preemption: spec.preemption === "Always",
    dependentOverrides: (spec.dependentOverrides?.length ?? 0) > 0,
    failover: spec.failover !== undefined,
    activationPreference: Boolean(spec.activationPreference),
    suspension: spec.suspension !== undefined,
    preserveResourcesOnDeletion: spec.preserveResourcesOnDeletion === true,
    schedulePriority: spec.schedulePriority !== undefined,
  };
  return Object.keys(asked).filter((field) => asked[field]).map((field) => notSupportedYet(`spec.${field}`));
}

function checkPlacement(at: string, placement: Read<Placement>): FieldError[] {
  const errors: FieldError[] = placement.clusterAffinity ? checkClusterAffinity(`${at}.clusterAffinity`, placement.clusterAffinity) : [];
  for (const [index, toleration] of (placement.clusterTolerations ?? []).entries()) errors.push(...checkToleration(`${at}.clusterTolerations[${index}]`, toleration));
  for (const field of ["clusterAffinities", "spreadConstraints"] as const) {
    if ((placement[field]?.length ?? 0) > 0) errors.push(notSupportedYet(`${at}.${field}`));
  }
  if (placement.workloadAffinity) errors.push(notSupportedYet(`${at}.workloadAffinity`));
  const { replicaDivisionPreference, weightPreference } = placement.replicaScheduling ?? {};
  if (replicaDivisionPreference === "Aggregated") errors.push(notSupportedYet(`${at}.replicaScheduling.replicaDivisionPreference`));
  if (weightPreference?.dynamicWeight) errors.push(notSupportedYet(`${at}.replicaScheduling.weightPreference.dynamicWeight`));
  for (const [index, { targetCluster, weight }] of (weightPreference?.staticWeightList ?? []).entries()) {
    const field = `${at}.replicaScheduling.weightPreference.staticWeightList[${index}]`;
    errors.push(...checkClusterAffinity(`${field}.targetCluster`, targetCluster));
    if (weight < 1) errors.push(wrong(`${field}.weight`, weight, "must be greater than or equal to 1"));
  }
  return errors;
}
