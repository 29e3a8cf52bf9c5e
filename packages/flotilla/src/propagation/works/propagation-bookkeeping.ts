/**
 * Annotations in which Flotilla keeps its own records. A user who sets one in a template or an override could forge
 * them, for example mark an object as released that Flotilla never owned; so they are removed from a member's copy.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { APPLIED_DIGEST, RELEASED_FROM } from "../../delivery/marks.ts";
import { KEPT_TEMPLATE, LEAVING_ORDINALS, ROLLOUT_STAGE } from "@flotilla/openkruise";
import { ACTIVATED_TEMPLATE, UNMANAGED_FOR, MOVES, PODS_TO_DELETE, UNHEALTHY_SINCE } from "../../flotilla-names.ts";
import { MANAGED_ANNOTATIONS, MANAGED_LABELS } from "@flotilla/karmada";
type Copy = DeepReadonly<KubernetesObject>;

const RECORDS: readonly string[] = [
  ACTIVATED_TEMPLATE,
  APPLIED_DIGEST,
  KEPT_TEMPLATE,
  LEAVING_ORDINALS,
  UNMANAGED_FOR,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  MOVES,
  PODS_TO_DELETE,
  RELEASED_FROM,
  ROLLOUT_STAGE,
  UNHEALTHY_SINCE,
];

/** The object without the records; the same object when it has none. */
export function withoutRecords(object: Copy): Copy {
  return withRecordsOf(object, undefined);
}

/** The object with exactly the records of `original`. */
export function withRecordsOf(object: Copy, original: Copy | undefined): Copy {
  const [given, wanted] = [object.metadata.annotations, original?.metadata.annotations];
  if (RECORDS.every((name) => given?.[name] === wanted?.[name])) return object;
  const annotations: Record<string, string> = { ...given };
  for (const name of RECORDS) {
    const value = wanted?.[name];
    if (value === undefined) delete annotations[name];
    else annotations[name] = value;
  }
  return { ...object, metadata: { ...object.metadata, annotations } };
}
