/** The Works of the hub, indexed by the binding or namespace that they belong to. */
import { clusterNameOf, executionNamespace, Work, workName } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { findCondition } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informer, Lister, ObjectEvent } from "@flotilla/controller-runtime";
import { bindingId, bindingKeyOf, clusterScope, namespacedScope, scopeOf } from "../bindings/binding-scope.ts";
import { targetsOf } from "../bindings/target-clusters.ts";
import { NAMESPACE_LABEL, TERMINATING } from "../../flotilla-names.ts";
const BY_BINDING = "binding";
const BY_NAMESPACE = "namespace";

/** Indexes Works by owner. Called once per informer, by the code that wires the stages. */
export function indexWorks(works: Informer<Work>): void {
  const byLabels =
    (...labels: string[]) =>
    (work: DeepReadonly<Work>): string[] =>
      // Outside execution namespaces a Work belongs to no member, and its labels are untrusted.
      clusterNameOf(work.metadata.namespace ?? "") === undefined
        ? []
        : labels.flatMap((label) => work.metadata.labels?.[label] || []);
  works.addIndex(BY_BINDING, byLabels(namespacedScope.id, clusterScope.id));
  works.addIndex(BY_NAMESPACE, byLabels(NAMESPACE_LABEL));
}

export function worksOfBinding(works: Informer<Work>, binding: DeepReadonly<ResourceBinding>): DeepReadonly<Work>[] {
  const id = bindingId(binding);
  const found = id ? works.by(BY_BINDING, id).filter((work) => names(work, binding)) : [];
  if (binding.spec.resource.kind !== "Namespace") return found;
  // The Work of a synced namespace returns to the namespaces stage when its member is no longer a target, and is not
  // ours to delete.
  const targets = new Set(targetsOf(binding.spec).map(({ name }) => executionNamespace(name)));
  return found.filter(({ metadata }) => !metadata.labels?.[NAMESPACE_LABEL] || targets.has(metadata.namespace ?? ""));
}

/**
 * Deleted Works whose object a finalizer holds on a target of the binding. They may belong to an earlier binding of the
 * same object. The copy for this binding cannot be delivered before they are gone.
 */
export function heldWorksOfBinding(
  works: Pick<Lister<Work>, "get">,
  hub: string,
  binding: DeepReadonly<ResourceBinding>,
  own: readonly DeepReadonly<Work>[],
): DeepReadonly<Work>[] {
  const { kind, name, namespace = "" } = binding.spec.resource;
  const live = new Set(
    own.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.namespace),
  );
  return targetsOf(binding.spec).flatMap((target) => {
    const place = executionNamespace(target.name);
    if (live.has(place)) return [];
    const work = works.get({ cluster: hub, namespace: place, name: workName(kind, name, namespace) });
    const isHeld =
      work?.metadata.deletionTimestamp !== undefined &&
      findCondition(work.status?.conditions, "Applied")?.reason === TERMINATING;
    return isHeld && names(work, binding) ? [work] : [];
  });
}

/** Deletes a binding's Works as listed by the server, because an informer may lag. */
export async function removeWorksOfBinding(
  client: Client,
  hub: string,
  binding: DeepReadonly<ResourceBinding>,
  signal: AbortSignal,
): Promise<void> {
  const id = bindingId(binding);
  if (!id) return;
  const { items } = await client.list(Work, { cluster: hub, labelSelector: `${scopeOf(binding).id}=${id}`, signal });
  const live = items.filter((work) => !work.metadata.deletionTimestamp && names(work, binding));
  await Promise.all(
    live.map(({ metadata: { namespace = "", name } }) =>
      client.delete(Work, { cluster: hub, namespace, name }, { signal }),
    ),
  );
}

/**
 * The id of a binding is set by its creator and can be forged; a Work names its binding, and only the hub writes that.
 */
function names(work: DeepReadonly<Work>, binding: DeepReadonly<ResourceBinding>): boolean {
  const of = bindingKeyOf(scopeOf(binding), "", work);
  return of !== undefined && of.name === binding.metadata.name && of.namespace === binding.metadata.namespace;
}

export function worksOfNamespace(works: Informer<Work>, namespace: string): DeepReadonly<Work>[] {
  return works.by(BY_NAMESPACE, namespace);
}

/** Whether two Works belong to one binding; a removed label does not change that. */
export function isOfSameBinding(a: DeepReadonly<Work>, b: DeepReadonly<Work>): boolean {
  const of = (work: DeepReadonly<Work>): string =>
    JSON.stringify([namespacedScope, clusterScope].map((scope) => bindingKeyOf(scope, "", work)));
  return of(a) === of(b) || isSyncedNamespace(a, b);
}

/** A policy that selects a namespace takes over the Works that the namespaces stage created for it. */
function isSyncedNamespace(found: DeepReadonly<Work>, desired: DeepReadonly<Work>): boolean {
  const namespace = desired.metadata.labels?.[NAMESPACE_LABEL];
  return namespace !== undefined && found.metadata.labels?.[NAMESPACE_LABEL] === namespace;
}

/** Whether more than a Work's status changed: then its owning stage must reconcile it. */
export function isTouched({ object, old, deleted }: ObjectEvent<Work>): boolean {
  if (deleted) return true;
  if (!old) return false;
  return (
    old.metadata.generation !== object.metadata.generation ||
    !equalJson(old.metadata.labels, object.metadata.labels) ||
    !equalJson(old.metadata.annotations, object.metadata.annotations)
  );
}
