/** The Works of the hub, found by the binding or namespace that they belong to without looking at all of them. */
import { Work } from "../api/index.ts";
import type { ResourceBinding } from "../api/index.ts";
import { equalJson } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Informer, ObjectEvent } from "../runtime/index.ts";
import { BINDING_ID, BINDING_NAME, BINDING_NAMESPACE, NAMESPACE_LABEL } from "./well-known.ts";

const BY_BINDING = "binding";
const BY_NAMESPACE = "namespace";

/** Files Works by owner. Called once per informer, by whoever wires the stages. */
export function indexWorks(works: Informer<Work>): void {
  const byLabel = (label: string) => (work: DeepReadonly<Work>): string[] => {
    const value = work.metadata.labels?.[label];
    return value ? [value] : [];
  };
  works.addIndex(BY_BINDING, byLabel(BINDING_ID));
  works.addIndex(BY_NAMESPACE, byLabel(NAMESPACE_LABEL));
}

export function worksOfBinding(works: Informer<Work>, binding: DeepReadonly<ResourceBinding>): DeepReadonly<Work>[] {
  const id = binding.metadata.labels?.[BINDING_ID];
  return id ? works.by(BY_BINDING, id) : [];
}

/** Deletes a binding's Works by what the server has, because an informer may not have seen the newest yet. */
export async function removeWorksOfBinding(client: Client, hub: string, binding: DeepReadonly<ResourceBinding>, signal: AbortSignal): Promise<void> {
  const id = binding.metadata.labels?.[BINDING_ID];
  if (!id) return;
  const { items } = await client.list(Work, { cluster: hub, labelSelector: `${BINDING_ID}=${id}`, signal });
  const live = items.filter(({ metadata }) => !metadata.deletionTimestamp);
  await Promise.all(live.map(({ metadata: { namespace = "", name } }) => client.delete(Work, { cluster: hub, namespace, name }, { signal })));
}

export function worksOfNamespace(works: Informer<Work>, namespace: string): DeepReadonly<Work>[] {
  return works.by(BY_NAMESPACE, namespace);
}

/** Whether two Works were made for one binding; a label that somebody took off does not change that. */
export function isOfSameBinding(a: DeepReadonly<Work>, b: DeepReadonly<Work>): boolean {
  const of = ({ metadata: { annotations } }: DeepReadonly<Work>): string => `${annotations?.[BINDING_NAMESPACE]}/${annotations?.[BINDING_NAME]}`;
  return of(a) === of(b);
}

/** Whether more than a Work's status changed: then whoever made it looks whether it is still right. */
export function isTouched({ object, old, deleted }: ObjectEvent<Work>): boolean {
  if (deleted) return true;
  if (!old) return false;
  return old.metadata.generation !== object.metadata.generation || !equalJson(old.metadata.labels, object.metadata.labels) || !equalJson(old.metadata.annotations, object.metadata.annotations);
}
