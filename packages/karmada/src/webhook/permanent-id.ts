/** Karmada's objects carry a permanent id in a label, so that a claim survives a rename and ends with the object. */
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { KubernetesObject, Review } from "@flotilla/apimachinery";

/**
 * Returns the object with its id. An update that omits the id keeps it. An id in a create request is kept; an update
 * cannot change it. With `of: "policy"` an id in a create request is ignored, and validation rejects a changed one.
 */
export function withPermanentId<T extends KubernetesObject>(
  { object, oldObject, newUid }: Review<T>,
  label: string,
  of: "policy" | "binding",
): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  if (!isObject(metadata.labels ?? {})) return object;
  const given = metadata.labels?.[label];
  const had = (oldObject as DeepReadonly<KubernetesObject> | undefined)?.metadata.labels?.[label];
  const id = (of === "binding" ? had || given : had && (given ?? had)) || newUid();
  if (given === id) return object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [label]: id } } };
}
