/** The workloads that an object names in `targetRef`, or selects by the labels of their pods. */
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Concern } from "@flotilla/kubernetes";

export interface ConcernedFields {
  targetRef?: { apiVersion?: string; kind?: string; name?: string };
  selector?: object;
}

/** Undefined while the object concerns nothing: an empty selector selects nothing. */
export function concernOf(spec: DeepReadonly<ConcernedFields> | undefined): Concern | undefined {
  const { targetRef, selector } = spec ?? {};
  if (targetRef) {
    const { apiVersion = "", kind = "", name = "" } = targetRef;
    return kind && name ? { workload: { apiVersion, kind, name } } : undefined;
  }
  return isObject(selector) && Object.keys(selector).length > 0 ? { pods: selector } : undefined;
}
