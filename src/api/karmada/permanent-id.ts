/** Karmada's objects carry an id of their own in a label, so that a claim survives a rename and ends with the object. */
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Review } from "../admission.ts";
import type { KubernetesObject } from "../meta.ts";

/** Gives a new object an id; an update keeps the one it has, whatever it says. */
export function withPermanentId<T extends KubernetesObject>({ object, oldObject, newUid }: Review<T>, label: string): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  if (!isObject(metadata.labels ?? {})) return object;
  const given = (oldObject as DeepReadonly<KubernetesObject> | undefined)?.metadata.labels?.[label];
  const id = given || metadata.labels?.[label] || newUid();
  if (metadata.labels?.[label] === id) return object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [label]: id } } };
}
