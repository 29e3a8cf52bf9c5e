/** Compares versions of an object. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

/**
 * True when `a` is a later version of the same object as `b`. Versions are decimal numbers that may exceed JavaScript's
 * exact integers, so they are compared as text: the longer is greater. Versions that are not numbers, which only
 * servers older than the guarantee return, are never newer.
 */
export function isNewer(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): boolean {
  return (
    a.metadata.uid === b.metadata.uid && isLater(a.metadata.resourceVersion ?? "", b.metadata.resourceVersion ?? "")
  );
}

/** True when version `a` is later than version `b`. */
export function isLater(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

const DECIMAL = /^(0|[1-9][0-9]*)$/;
