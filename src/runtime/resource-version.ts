/** Which of two versions of an object is newer. */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

/**
 * True when `a` is a later version of the object that `b` is a version of. Versions are decimal numbers that may be
 * longer than a JavaScript number is exact, so they are compared as text: the longer is greater. Versions that are no
 * numbers, which only servers older than the guarantee give, are never newer.
 */
export function isNewer(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): boolean {
  return (
    a.metadata.uid === b.metadata.uid && isLater(a.metadata.resourceVersion ?? "", b.metadata.resourceVersion ?? "")
  );
}

/** True when version `a` comes after version `b`. */
export function isLater(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

const DECIMAL = /^(0|[1-9][0-9]*)$/;
