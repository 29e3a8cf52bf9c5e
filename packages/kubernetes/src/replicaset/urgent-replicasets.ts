/**
 * Which ReplicaSets are urgent. Most pod changes (a node, a status) affect only the status of their set, and evaluating
 * all pods of a set for each of them would have quadratic cost. So while a status update is delayed, a set is
 * reconciled only if it changed itself, or if a pod was added, left or stopped counting.
 *
 * An unrecognized change is not lost: it is seen when the status is due.
 */
import { Pod } from "../pod/pod-kind.ts";
import { controllerOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf, watch } from "@flotilla/controller-runtime";
import type { KindRequest, ObjectEvent } from "@flotilla/controller-runtime";
import { isActive } from "../pod/pod-state.ts";

export interface Urgent {
  /** To be added to the watches of the controller, which is triggered by these changes anyway. */
  readonly watches: readonly KindRequest<ObjectKey>[];
  has(key: ObjectKey): boolean;
  /** The set was reconciled, or deleted. */
  over(key: ObjectKey): void;
}

export function createUrgent<T extends KubernetesObject>(kind: Kind<T>): Urgent {
  const urgent = new Set<string>();
  const noticeSet = ({ cluster, object, old }: ObjectEvent<T>): [] => {
    if (!old || old.metadata.generation !== object.metadata.generation) urgent.add(idOfKey(keyOf(cluster, object)));
    return [];
  };
  const noticePod = (event: ObjectEvent<Pod>): [] => {
    if (!changesCount(event)) return [];
    for (const pod of [event.object, event.old]) {
      const owner = pod && controllerOf(pod);
      // Only the owners that the controller enqueues as well: a marked set is reconciled, which clears the mark.
      if (owner?.kind === kind.kind && parseApiVersion(owner.apiVersion).group === kind.group)
        urgent.add(
          idOfKey({ cluster: event.cluster, namespace: event.object.metadata.namespace ?? "", name: owner.name }),
        );
    }
    return [];
  };
  return {
    watches: [watch(kind, noticeSet), watch(Pod, noticePod)],
    has: (key) => urgent.has(idOfKey(key)),
    over: (key) => void urgent.delete(idOfKey(key)),
  };
}

/** Whether the pod starts or stops counting for a set, or moves to another set. */
function changesCount({ object, old, deleted }: ObjectEvent<Pod>): boolean {
  if (!old) return !deleted || isActive(object);
  const counted = isActive(old);
  const counts = !deleted && isActive(object);
  return counted !== counts || (counts && controllerOf(old)?.uid !== controllerOf(object)?.uid);
}
