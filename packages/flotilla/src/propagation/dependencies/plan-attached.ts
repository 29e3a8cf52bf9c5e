/**
 * Computes the binding of a needed object: its requirers and their clusters. Pure.
 *
 * The result depends only on the object and the bindings that currently need it, so a binding that stops needing it, or
 * is deleted, leaves no trace. An object that a policy propagates as well keeps its policy's binding, to which the
 * requirers are added.
 */
import { controllerReference } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, type DeepReadonly, type Json } from "@flotilla/base";
import { bindingId, scopeIn } from "../bindings/binding-scope.ts";
import { leftGracefully } from "../bindings/target-clusters.ts";
import { planUnmanagedFor } from "../members/unmanaged.ts";
import { bindingName, bindingReferenceKey, CLUSTER_POLICY_ID, DEPENDED_BY_PREFIX, POLICY_ID } from "@flotilla/karmada";
import { UNMANAGED_FOR } from "../../flotilla-names.ts";
type Binding = DeepReadonly<ResourceBinding>;
type Snapshot = NonNullable<ResourceBinding["spec"]["requiredBy"]>[number];

export type AttachedPlan =
  | { readonly action: "none" }
  | {
      readonly action: "create";
      readonly binding: Binding;
      /** Settings on which the requirers disagree. */ readonly conflicts: readonly string[];
    }
  /** A merge patch of the fields that this stage owns in the binding; other fields may change concurrently. */
  | { readonly action: "update"; readonly patch: Json; readonly conflicts: readonly string[] }
  /** There are no requirers left, and no policy propagates it. */
  | { readonly action: "delete" };

const NONE: AttachedPlan = { action: "none" };

export function planAttached(
  object: DeepReadonly<KubernetesObject>,
  requirers: readonly Binding[],
  existing: Binding | undefined,
): AttachedPlan {
  if (requirers.length === 0) return existing ? planRelease(existing) : NONE;
  const labels = Object.fromEntries(requirers.map((requirer) => [dependedBy(requirer), bindingId(requirer)]));
  const requiredBy = requirers
    .map(snapshotOf)
    .sort((a, b) => (`${a.namespace ?? ""}/${a.name}` < `${b.namespace ?? ""}/${b.name}` ? -1 : 1));
  const { conflicts, ...strategy } = strategyOf(requirers);
  const unmanagedFor = planUnmanagedFor(existing, requirers);
  if (!existing)
    return {
      action: "create",
      binding: newBinding(object, labels, unmanagedFor, { requiredBy, ...strategy }),
      conflicts,
    };
  // The policy owns the other fields of its own binding.
  return planUpdate(
    existing,
    { labels, unmanagedFor },
    existing.spec.placement ? { requiredBy } : { requiredBy, ...strategy },
    conflicts,
  );
}

function planRelease(existing: Binding): AttachedPlan {
  const isAttached =
    existing.spec.requiredBy?.length ||
    Object.keys(existing.metadata.labels ?? {}).some((label) => label.startsWith(DEPENDED_BY_PREFIX));
  if (!isAttached) return NONE;
  const { labels = {} } = existing.metadata;
  const isOfPolicy =
    existing.spec.placement !== undefined || labels[POLICY_ID] !== undefined || labels[CLUSTER_POLICY_ID] !== undefined;
  if (!isOfPolicy) return { action: "delete" };
  return planUpdate(existing, { labels: {}, unmanagedFor: planUnmanagedFor(existing, []) }, { requiredBy: [] }, []);
}

/** The label of a requirer; its key contains the binding's name, its value the binding's id. */
function dependedBy({ metadata }: Binding): string {
  return DEPENDED_BY_PREFIX + bindingReferenceKey(metadata.namespace ?? "", metadata.name);
}

/** The clusters on which the requirer runs. A cluster under eviction still runs it until the replacement is healthy. */
function snapshotOf({ metadata, spec }: Binding): Snapshot {
  const kept = [...leftGracefully(spec)].map((name) => ({ name }));
  const clusters = [...(spec.clusters ?? []).map(({ name, replicas }) => ({ name, replicas })), ...kept];
  return {
    namespace: metadata.namespace || undefined,
    name: metadata.name,
    clusters: clusters.length > 0 ? clusters : undefined,
  };
}

/** One requirer that overwrites, or preserves, is enough. */
function strategyOf(requirers: readonly Binding[]): {
  conflictResolution: "Abort" | "Overwrite";
  preserveResourcesOnDeletion: boolean;
  conflicts: string[];
} {
  const overwriting = requirers.filter(({ spec }) => spec.conflictResolution === "Overwrite").length;
  const preserving = requirers.filter(({ spec }) => spec.preserveResourcesOnDeletion).length;
  const isMixed = (count: number): boolean => count > 0 && count < requirers.length;
  return {
    conflictResolution: overwriting > 0 ? "Overwrite" : "Abort",
    preserveResourcesOnDeletion: preserving > 0,
    conflicts: [
      ...(isMixed(overwriting) ? ["ConflictResolution conflicted (Overwrite vs Abort)"] : []),
      ...(isMixed(preserving) ? ["PreserveResourcesOnDeletion conflicted (true vs false)"] : []),
    ],
  };
}

function newBinding(
  object: DeepReadonly<KubernetesObject>,
  labels: Record<string, string>,
  unmanagedFor: string | undefined,
  spec: Partial<ResourceBinding["spec"]>,
): Binding {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, uid, resourceVersion } = metadata;
  const scope = scopeIn(namespace);
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: scope.kind.kind,
    metadata: {
      name: bindingName(kind, name),
      namespace: namespace || undefined,
      labels,
      annotations: unmanagedFor !== undefined ? { [UNMANAGED_FOR]: unmanagedFor } : undefined,
      ownerReferences: [controllerReference(object)],
      finalizers: [scope.finalizer],
    },
    spec: {
      resource: {
        apiVersion,
        kind,
        namespace: namespace || undefined,
        name,
        uid: uid || undefined,
        resourceVersion: resourceVersion || undefined,
      },
      ...spec,
    },
  };
}

function planUpdate(
  { metadata, spec }: Binding,
  { labels: wanted, unmanagedFor }: { labels: Record<string, string>; unmanagedFor: string | undefined },
  changed: Partial<ResourceBinding["spec"]>,
  conflicts: readonly string[],
): AttachedPlan {
  const labels: Record<string, string | null> = {};
  for (const label of Object.keys(metadata.labels ?? {}))
    if (label.startsWith(DEPENDED_BY_PREFIX) && wanted[label] === undefined) labels[label] = null;
  for (const [label, id] of Object.entries(wanted)) if (metadata.labels?.[label] !== id) labels[label] = id;
  const fields = Object.entries(changed).filter(
    ([field, value]) =>
      !equalJson(value, spec[field as keyof Binding["spec"]] ?? (Array.isArray(value) ? [] : undefined)),
  );
  const isNoted = metadata.annotations?.[UNMANAGED_FOR] === unmanagedFor;
  if (Object.keys(labels).length + fields.length === 0 && isNoted) return NONE;
  return {
    action: "update",
    patch: {
      metadata: { labels, annotations: isNoted ? undefined : { [UNMANAGED_FOR]: unmanagedFor ?? null } },
      spec: Object.fromEntries(fields),
    } as unknown as Json,
    conflicts,
  };
}
