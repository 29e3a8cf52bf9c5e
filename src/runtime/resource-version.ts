/** Which of two versions of an object is newer. */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

/**
 * True when `a` is a later version of the object that `b` is a version of. Versions are decimal numbers that may be longer
 * than a JavaScript number is exact, so they are compared as text: the longer is greater. Versions that are no numbers,
 * which only servers older than the guarantee give, are never newer.
 */
export function isNewer(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): boolean {
  if (a.metadata.uid !== b.metadata.uid) return false;
  const left = a.metadata.resourceVersion ?? "";
  const right = b.metadata.resourceVersion ?? "";
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) return false;
  return left.length === right.length ? left > right : left.length > right.length;
}

const DECIMAL = /^(0|[1-9][0-9]*)$/;
