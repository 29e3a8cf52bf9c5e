/** Defaults and validation of PropagationPolicy and ClusterPropagationPolicy, as in Karmada's webhooks. */
import { isObject, type DeepReadonly } from "@flotilla/base";
import { change, field } from "@flotilla/apimachinery";
import type { Admission, FieldError, Kind, Review } from "@flotilla/apimachinery";
import type {
  ClusterPropagationPolicy,
  PropagationPolicy,
  PropagationSpec,
  ResourceSelector,
  Suspension,
} from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { checkFailover, completeFailover, failoverWarnings } from "../placement/failover-rules.ts";
import { withPermanentId } from "../webhook/permanent-id.ts";
import { checkPlacement, completePlacement, placementWarnings } from "../placement/placement-rules.ts";
import { checkSelectors, inNamespace, selectorWarnings } from "../selection/selector-rules.ts";
import { denial, karmadaAdmission } from "../webhook/webhook.ts";

const TABLE = "policy-karmada-v1alpha1";

type Read<T> = DeepReadonly<T>;
type Policy = PropagationPolicy | ClusterPropagationPolicy;

interface PolicyKeys {
  webhook: string;
  /** The label with the policy's permanent id, which its claims repeat. */
  id: string;
  /** The finalizer by which Karmada keeps a policy until its claims are removed. */
  finalizer: string;
}

export function policyAdmission<T extends Policy>(kind: Kind<T>, marks: PolicyKeys): Admission<T> {
  return karmadaAdmission<T>(kind, {
    name: marks.webhook,
    completes: { table: TABLE, complete: (_, review) => completePolicy(review, marks) },
    check: (review) => checkPolicy(review, marks),
    warnings: ({ object }) => policyWarnings(object),
  });
}

function completePolicy<T extends Policy>(review: Review<T>, { id, finalizer }: PolicyKeys): Read<T> {
  const policy = withoutFinalizer(withPermanentId(review, id, "policy"), finalizer);
  return change(policy, "spec", (spec) => completeSpec(spec, policy.metadata.namespace)) as Read<T>;
}

/**
 * The match stage removes claims after their policy was deleted, so policies need no finalizer. A policy copied from
 * Karmada still has one that no controller here would remove.
 */
function withoutFinalizer(policy: Read<Policy>, finalizer: string): Read<Policy> {
  const { finalizers } = policy.metadata;
  if (!Array.isArray(finalizers) || !finalizers.includes(finalizer)) return policy;
  return { ...policy, metadata: { ...policy.metadata, finalizers: finalizers.filter((other) => other !== finalizer) } };
}

function completeSpec(spec: Read<PropagationSpec>, namespace: string | undefined): Read<PropagationSpec> {
  if (!isObject(spec)) return spec;
  let result: Read<PropagationSpec> = spec;
  if (namespace !== undefined)
    result = change(result, "resourceSelectors", (selectors) => inNamespace(selectors, namespace));
  if (!result.propagateDeps && result.resourceSelectors?.some(isServiceImport))
    result = { ...result, propagateDeps: true };
  return change(change(result, "placement", completePlacement), "failover", completeFailover);
}

/** A ServiceImport needs its EndpointSlices, which are dependencies. */
const isServiceImport = ({ apiVersion, kind }: Read<ResourceSelector>): boolean =>
  kind === "ServiceImport" && apiVersion === "multicluster.x-k8s.io/v1alpha1";

function checkPolicy<T extends Policy>({ object, oldObject }: Review<T>, { webhook, id }: PolicyKeys): FieldError[] {
  const policy: Read<Policy> = object;
  const old: Read<Policy> | undefined = oldObject;
  if (old && policy.spec.schedulerName !== old.spec.schedulerName)
    throw denial(webhook, "the schedulerName should not be updated");
  const had = old?.metadata.labels?.[id];
  if (had && policy.metadata.labels?.[id] !== had)
    throw denial(webhook, `label ${id} is immutable, it can only be set by the system during creation`);
  return checkSpec(policy.spec, policy.metadata.namespace);
}

function checkSpec(spec: Read<PropagationSpec>, namespace: string | undefined): FieldError[] {
  const { placement, failover, propagateDeps = false, resourceSelectors, suspension } = spec;
  return [
    ...(placement ? checkPlacement("spec.placement", placement) : []),
    ...(failover?.application && !propagateDeps
      ? [field.invalid("spec.propagateDeps", propagateDeps, "application failover is set, propagateDeps must be true")]
      : []),
    ...(failover ? checkFailover("spec.failover", failover) : []),
    ...checkSelectors(resourceSelectors, namespace),
    ...(spec.preemption === "Always" ? checkNamed(resourceSelectors) : []),
    ...(suspension ? checkSuspension(suspension) : []),
  ];
}

/** A preempting policy must name its objects. */
function checkNamed(selectors: readonly Read<ResourceSelector>[]): FieldError[] {
  return selectors.flatMap(({ name = "" }, index) =>
    name === ""
      ? [
          field.invalid(
            `spec.resourceSelectors[${index}].name`,
            name,
            "name cannot be empty if preemption is Always, the empty name may cause unexpected resources preemption",
          ),
        ]
      : [],
  );
}

function checkSuspension(suspension: Read<Suspension>): FieldError[] {
  const { dispatching, dispatchingOnClusters } = suspension;
  if (!dispatching || !dispatchingOnClusters?.clusterNames?.length) return [];
  // Karmada repeats the field name.
  return [
    field.invalid(
      "spec.suspension.suspension",
      suspension,
      "suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames",
    ),
  ];
}

function policyWarnings({ metadata, spec }: Read<Policy>): string[] {
  return [
    ...selectorWarnings(spec.resourceSelectors, {
      namespace: metadata.namespace,
      canonicalKind: "ClusterPropagationPolicy",
      selectsClusterScoped: true,
    }),
    ...(spec.placement ? placementWarnings("spec.placement", spec.placement) : []),
    ...(spec.failover ? failoverWarnings("spec.failover", spec.failover) : []),
  ];
}
