/**
 * Computes the binding of a matched template. Pure.
 *
 * Match owns the fields that follow from template and policy; clusters, evictions and rebalance requests of other
 * writers are kept. A binding has its finalizer from the start, which saves a write.
 */
import { controllerOf, controllerReference, parseApiVersion, type KubernetesObject } from "@flotilla/apimachinery";
import { bindingName } from "@flotilla/karmada";
import { runsOnce } from "../jobs/finished-run.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, type DeepReadonly, omitZero, defined } from "@flotilla/base";
import { scopeIn } from "../bindings/binding-scope.ts";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS, claimMetadata, type Policy } from "./plan-match.ts";
import type { NamedPods } from "../pods-to-delete/named-pods.ts";
import { sizeFields } from "../replicas/template-size.ts";
import type { Size } from "../replicas/template-size.ts";
import { ACTIVATED_TEMPLATE, DRIFT, NAMED_PODS, RERUN_JOBS, RETURN_AFTER_SECONDS } from "../../flotilla-names.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface BindingInput extends Size {
  readonly template: DeepReadonly<KubernetesObject>;
  readonly policy: Policy;
  /** The value of the priority class that the policy names. */
  readonly schedulePriority?: number | undefined;
  /** The digest of a lazily activated template. */
  readonly activated?: string | undefined;
  /** The pods that the template names for deletion. */
  readonly namedPods?: NamedPods | undefined;
}

export function planBinding({
  template,
  policy,
  replicas,
  components,
  schedulePriority,
  activated,
  namedPods,
}: BindingInput): Binding {
  const { apiVersion, kind, metadata } = template;
  const { labels, annotations } = claimMetadata(policy);
  const scope = scopeIn(metadata.namespace);
  const groups = affinityGroups(policy, metadata.labels);
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: scope.kind.kind,
    metadata: {
      name: bindingName(kind, metadata.name),
      namespace: metadata.namespace || undefined,
      labels,
      annotations: {
        ...annotations,
        ...carriedAnnotations(policy, metadata.annotations),
        ...defined({
          [ACTIVATED_TEMPLATE]: activated,
          [NAMED_PODS]: namedPods ? JSON.stringify(namedPods) : undefined,
        }),
      },
      ownerReferences: [controllerReference(template)],
      finalizers: [scope.finalizer],
    },
    spec: {
      resource: {
        apiVersion,
        kind,
        name: metadata.name,
        namespace: metadata.namespace || undefined,
        uid: metadata.uid || undefined,
        resourceVersion: metadata.resourceVersion || undefined,
      },
      ...sizeFields({ replicas, components }, metadata.namespace),
      ...fromPolicy(policy),
      ...defined({ schedulePriority: schedulePriority === undefined ? undefined : { priority: schedulePriority } }),
      ...omitZero({ workloadAffinityGroups: groups }),
    },
  };
}

/**
 * The groups for affinity and anti-affinity between workloads, by a label of the template; without the label there is
 * no group.
 */
function affinityGroups(
  { spec }: Policy,
  labels: Readonly<Record<string, string>> = {},
): Binding["spec"]["workloadAffinityGroups"] {
  const { affinity, antiAffinity } = spec.placement?.workloadAffinity ?? {};
  const groupOf = (key: string | undefined): string | undefined =>
    key === undefined || labels[key] === undefined ? undefined : `${key}=${labels[key]}`;
  const [affinityGroup, antiAffinityGroup] = [
    groupOf(affinity?.groupByLabelKey),
    groupOf(antiAffinity?.groupByLabelKey),
  ];
  return affinityGroup || antiAffinityGroup
    ? { affinityGroup: affinityGroup || undefined, antiAffinityGroup: antiAffinityGroup || undefined }
    : undefined;
}

function fromPolicy({ spec }: Policy): Partial<Binding["spec"]> {
  const {
    placement,
    propagateDeps,
    schedulerName,
    failover,
    conflictResolution,
    suspension,
    preserveResourcesOnDeletion,
  } = spec;
  return {
    propagateDeps: propagateDeps || undefined,
    schedulerName: schedulerName || undefined,
    placement,
    failover,
    conflictResolution: conflictResolution ?? "Abort",
    suspension,
    preserveResourcesOnDeletion,
  };
}

/** Annotations of the policy that later stages read on the binding. */
const CARRIED_ANNOTATIONS: readonly string[] = [RETURN_AFTER_SECONDS, DRIFT, RERUN_JOBS];

/** Annotations that follow from the template. */
const OWN_ANNOTATIONS: readonly string[] = [ACTIVATED_TEMPLATE, NAMED_PODS];

/** Whether a Job runs again is asked of the Job first. */
function carriedAnnotations(
  { metadata }: Policy,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const annotations =
    own?.[RERUN_JOBS] === undefined ? metadata.annotations : { ...metadata.annotations, [RERUN_JOBS]: own[RERUN_JOBS] };
  return Object.fromEntries(
    CARRIED_ANNOTATIONS.flatMap((name) => (annotations?.[name] === undefined ? [] : [[name, annotations[name]]])),
  );
}

/** Spec fields that other writers own; match keeps them. */
const KEPT_FIELDS = ["clusters", "gracefulEvictionTasks", "requiredBy", "rescheduleTriggeredAt"] as const;

/**
 * The existing binding updated to the result of `planBinding`; the same object when nothing differs.
 *
 * The template's resourceVersion alone is not a difference: every aggregated status changes it, and writing the binding
 * for that would schedule and dispatch it again for nothing.
 */
export function mergeBinding(existing: Binding, desired: Binding): Binding {
  const kept = Object.fromEntries(
    KEPT_FIELDS.filter((field) => existing.spec[field] !== undefined).map((field) => [field, existing.spec[field]]),
  );
  // Users suspend scheduling on the binding; the policy only has dispatching.
  const scheduling = existing.spec.suspension?.scheduling;
  const suspension = scheduling === undefined ? desired.spec.suspension : { ...desired.spec.suspension, scheduling };
  const merged: Binding = {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...without(existing.metadata.labels, CLAIM_LABELS), ...desired.metadata.labels },
      annotations: {
        ...without(existing.metadata.annotations, [...CLAIM_ANNOTATIONS, ...CARRIED_ANNOTATIONS, ...OWN_ANNOTATIONS]),
        ...desired.metadata.annotations,
      },
      ownerReferences: desired.metadata.ownerReferences ?? [],
      finalizers: [...new Set([...(existing.metadata.finalizers ?? []), ...(desired.metadata.finalizers ?? [])])],
    },
    spec: { ...desired.spec, ...kept, ...omitZero({ suspension }) },
  };
  const { resourceVersion } = existing.spec.resource;
  const unmoved = { ...merged, spec: { ...merged.spec, resource: { ...merged.spec.resource, resourceVersion } } };
  return equalJson(unmoved, existing) ? existing : merged;
}

/**
 * The step before a change of replicas and requests that a quota rejects: it counts the new requests for the replicas that
 * are still placed. The replicas alone go first, and what they give back makes room. Undefined unless there are fewer.
 */
export function withFewerReplicas(existing: Binding, merged: Binding): Binding | undefined {
  if ((merged.spec.replicas ?? 0) >= (existing.spec.replicas ?? 0)) return undefined;
  const { replicaRequirements: _, ...spec } = merged.spec;
  return { ...merged, spec: { ...spec, ...omitZero({ replicaRequirements: existing.spec.replicaRequirements }) } };
}

function without(
  entries: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Record<string, string> {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([key]) => !keys.includes(key)));
}

/**
 * Whether a binding of this name belongs to another object. `earlier`: to a deleted object of the same name, and
 * garbage collection will delete it. `other`: to an object of another API group, because a binding's name does not
 * contain the group; also when that object was deleted and left its copies running, because they would be mistaken for
 * copies of this one. `left`: to a deleted object of the same name that runs once and left its copies, whose results
 * are not those of this one.
 */
export function bindingConflict(
  existing: Binding,
  template: DeepReadonly<KubernetesObject>,
): "earlier" | "other" | "left" | undefined {
  const owner = controllerOf(existing);
  if (owner?.uid !== undefined && owner.uid === template.metadata.uid) return undefined;
  const { apiVersion, kind, name } = owner ?? existing.spec.resource;
  const isSame =
    kind === template.kind &&
    name === template.metadata.name &&
    parseApiVersion(apiVersion).group === parseApiVersion(template.apiVersion).group;
  if (!isSame) return "other";
  if (owner) return "earlier";
  return runsOnce(template) && existing.spec.resource.uid !== template.metadata.uid ? "left" : undefined;
}
