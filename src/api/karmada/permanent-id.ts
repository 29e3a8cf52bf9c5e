/** Karmada's objects carry an id of their own in a label, so that a claim survives a rename and ends with the object. */
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Review } from "../admission.ts";
import type { KubernetesObject } from "../meta.ts";

/** Gives a new object an id; an update that leaves the label out keeps the one it has. */
export function withPermanentId<T extends KubernetesObject>({ object, oldObject, newUid }: Review<T>, label: string): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  if (metadata.labels?.[label] || !isObject(metadata.labels ?? {})) return object;
  const id = (oldObject as DeepReadonly<KubernetesObject> | undefined)?.metadata.labels?.[label] || newUid();
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [label]: id } } };
}
