/**
 * Which ReplicaSets cannot wait. Most changes of pods (a node, a status) only change what the status of their set says,
 * and looking at all pods of a set for each of them would cost the square of their number. So while a status is held
 * back, a set is looked at only when it was changed itself, or when a pod came, left or stopped counting.
 *
 * Nothing is lost by a change that is not recognised here: it is seen when the status is due.
 */
import { Pod, controllerOf, parseApiVersion } from "../../../api/index.ts";
import type { Kind, KubernetesObject } from "../../../api/index.ts";
import type { ObjectKey } from "../../../client/index.ts";
import { idOfKey, keyOf, watch } from "../../../runtime/index.ts";
import type { KindRequest, ObjectEvent } from "../../../runtime/index.ts";
import { isActive } from "../pod.ts";

export interface Urgent {
  /** To be among the watches of the controller, which is called for these changes anyway. */
  readonly watches: readonly KindRequest<ObjectKey>[];
  has(key: ObjectKey): boolean;
  /** The set was looked at, or is gone. */
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
      // Just the owners for which the controller is called as well: whoever is marked is looked at, and the mark goes.
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

/** Whether the pod counts for another set than before, or no longer, or for the first time. */
function changesCount({ object, old, deleted }: ObjectEvent<Pod>): boolean {
  if (!old) return !deleted || isActive(object);
  const counted = isActive(old);
  const counts = !deleted && isActive(object);
  return counted !== counts || (counts && controllerOf(old)?.uid !== controllerOf(object)?.uid);
}
