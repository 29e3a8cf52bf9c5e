/**
 * Who owns what, looked up by index: a reconcile reads the objects of its owner and never a whole cluster.
 *
 * UIDs are unique within a cluster; the index value carries the cluster too, because one informer holds all members.
 */
import { Pod, ReplicaSet, ControllerRevision, controllerOf } from "../api/index.ts";
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { Informer, Informers } from "../runtime/index.ts";

const CONTROLLER_INDEX = "controller";

/** The kinds that workload controllers own. */
export const OWNED_KINDS: readonly Kind[] = [ReplicaSet, ControllerRevision, Pod];

/** To be called once for the informers that the controllers share. */
export function indexByController(informers: Informers): void {
  for (const kind of OWNED_KINDS) {
    informers.of(kind).addIndex(CONTROLLER_INDEX, (object, cluster) => {
      const owner = controllerOf(object);
      return owner ? [`${cluster}/${owner.uid}`] : [];
    });
  }
}

/** The oldest first, so that the same objects always come in the same order. */
export function ownedBy<T extends KubernetesObject>(informer: Informer<T>, cluster: string, ownerUid: string | undefined): DeepReadonly<T>[] {
  return informer.by(CONTROLLER_INDEX, `${cluster}/${ownerUid ?? ""}`).toSorted(byAge);
}

function byAge(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): number {
  const left = a.metadata.creationTimestamp ?? "";
  const right = b.metadata.creationTimestamp ?? "";
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
