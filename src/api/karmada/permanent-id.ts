/**
 * Karmada's objects carry an id of their own in a label, so that a claim survives a rename and ends with the object.
 */
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Review } from "../admission.ts";
import type { KubernetesObject } from "../meta.ts";

/**
 * The object with its id. One that does not repeat it in an update keeps it. An id that somebody states is kept when
 * the object is created, and ignored later; `of: "policy"` ignores it when the object is created and leaves it to the
 * rules to refuse another one later.
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
