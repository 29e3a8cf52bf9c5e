/**
 * Determines which bindings an override policy change may affect: the reactive half of the stage. Dispatch, which makes
 * the copies, reconciles them again.
 */
import { Cluster, ClusterOverridePolicy, OverridePolicy, type ResourceBinding } from "@flotilla/karmada";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf, watch, type Lister, type SourceRequest } from "@flotilla/controller-runtime";

type Binding = DeepReadonly<ResourceBinding>;
type Policy = DeepReadonly<Pick<OverridePolicy, "spec">>;

export function overrideChanges(bindings: Lister<ResourceBinding>): SourceRequest<ObjectKey>[] {
  const keys = (cluster: string, namespace: string | undefined, concerns: (binding: Binding) => boolean): ObjectKey[] =>
    bindings
      .list({ cluster, namespace: namespace || undefined })
      .filter(concerns)
      .map((binding) => keyOf(cluster, binding));
  const either = (object: Policy, old: Policy | undefined) => (binding: Binding) =>
    mayConcern(object, binding) || (old !== undefined && mayConcern(old, binding));
  return [
    watch(OverridePolicy, ({ cluster, object, old }) => keys(cluster, object.metadata.namespace, either(object, old))),
    watch(ClusterOverridePolicy, ({ cluster, object, old }) => keys(cluster, undefined, either(object, old))),
    // Overrides select clusters by labels, provider, region and zones.
    watch(Cluster, ({ cluster, object, old, deleted }) => {
      if (old && !deleted && !selectsAgain(old, object)) return [];
      return keys(
        cluster,
        undefined,
        ({ spec }) => spec.clusters?.some(({ name }) => name === object.metadata.name) ?? false,
      );
    }),
  ];
}

/**
 * By kind and name; labels are on the template, and are matched when the copy is made. A policy without selectors
 * matches every object.
 */
export function mayConcern({ spec: { resourceSelectors } }: Policy, { spec: { resource } }: Binding): boolean {
  if (!resourceSelectors?.length) return true;
  return resourceSelectors.some(
    ({ apiVersion, kind, name }) =>
      apiVersion === resource.apiVersion && kind === resource.kind && (!name || name === resource.name),
  );
}

function selectsAgain(before: DeepReadonly<Cluster>, after: DeepReadonly<Cluster>): boolean {
  return (
    before.metadata.generation !== after.metadata.generation ||
    !equalJson(before.metadata.labels, after.metadata.labels)
  );
}
