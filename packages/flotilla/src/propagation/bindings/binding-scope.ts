/**
 * The two kinds of binding: ResourceBinding for a namespaced template, ClusterResourceBinding for a cluster-scoped one.
 * They have one shape, and the stages are written once and run for each.
 */
import {
  BINDING_FINALIZER,
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  ClusterResourceBinding,
  ResourceBinding,
} from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";

export interface BindingScope {
  readonly kind: Kind<ResourceBinding>;
  /** The label with the binding's permanent id, repeated on its Works and manifests. */
  readonly id: string;
  /** The annotations of Works and manifests that name the binding. */
  readonly name: string;
  readonly namespace?: string;
  readonly finalizer: string;
}

export const namespacedScope: BindingScope = {
  kind: ResourceBinding,
  id: BINDING_ID,
  name: BINDING_NAME,
  namespace: BINDING_NAMESPACE,
  finalizer: BINDING_FINALIZER,
};
export const clusterScope: BindingScope = {
  kind: ClusterResourceBinding,
  id: CLUSTER_BINDING_ID,
  name: CLUSTER_BINDING_NAME,
  finalizer: CLUSTER_BINDING_FINALIZER,
};

type Binding = DeepReadonly<ResourceBinding>;

export function scopeOf({ kind }: Pick<Binding, "kind">): BindingScope {
  return kind === clusterScope.kind.kind ? clusterScope : namespacedScope;
}

/** The binding scope of an object in this namespace. */
export function scopeIn(namespace: string | undefined): BindingScope {
  return namespace ? namespacedScope : clusterScope;
}

/** `dispatch`, or `dispatch-cluster-bindings`: the same stage for the other kind. */
export function stageName(stage: string, { kind }: BindingScope): string {
  return kind.scope === "Namespaced" ? stage : `${stage}-cluster-bindings`;
}

/**
 * Whether a binding is in the namespace of its resource. A binding created elsewhere would make the hub act on a
 * resource that its creator has no access to: propagate another namespace's Secret to a member, or write another
 * object's status.
 */
export function isAtHome({ metadata, spec }: Binding): boolean {
  return (metadata.namespace ?? "") === (spec.resource.namespace ?? "");
}

export function bindingId({ kind, metadata }: Binding): string {
  return metadata.labels?.[scopeOf({ kind }).id] ?? "";
}

/** The labels and annotations of Works and manifests that identify their binding. */
export function bindingRecord(binding: Binding): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const scope = scopeOf(binding);
  const { namespace = "", name } = binding.metadata;
  const record = { labels: { [scope.id]: bindingId(binding) }, annotations: { [scope.name]: name } };
  if (scope.namespace) record.annotations = { [scope.namespace]: namespace, ...record.annotations };
  return record;
}

/** The binding of this scope that owns a Work. */
export function bindingKeyOf(
  scope: BindingScope,
  cluster: string,
  { metadata: { annotations = {} } }: DeepReadonly<Work>,
): ObjectKey | undefined {
  const name = annotations[scope.name];
  if (!name) return undefined;
  const namespace = scope.namespace && annotations[scope.namespace];
  return { cluster, namespace: namespace || undefined, name };
}
