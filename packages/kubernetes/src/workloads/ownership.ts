/**
 * Looks up owned objects by index: a reconcile reads the objects of its owner and never a whole cluster.
 *
 * UIDs are unique within a cluster; the index value contains the cluster too, because one informer holds all members.
 */
import { controllerOf, controllerReference, matchesLabels } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, LabelSelector } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer, Informers } from "@flotilla/controller-runtime";

const CONTROLLER_INDEX = "controller";
const ORPHAN_INDEX = "orphan";

/** Adds the indexes that the functions below read. */
export function indexOwners(informers: Informers, kinds: readonly Kind[]): void {
  for (const kind of kinds) {
    informers.of(kind).addIndex(CONTROLLER_INDEX, (object, cluster) => {
      const owner = controllerOf(object);
      return owner ? [`${cluster}/${owner.uid}`] : [];
    });
    informers
      .of(kind)
      .addIndex(ORPHAN_INDEX, (object, cluster) =>
        controllerOf(object) ? [] : [`${cluster}/${object.metadata.namespace ?? ""}`],
      );
  }
}

/** Objects of a namespace that have no controller, are not terminating, and match the selector. */
export function orphansOf<T extends KubernetesObject>(
  informer: Informer<T>,
  cluster: string,
  namespace: string | undefined,
  selector: LabelSelector,
): DeepReadonly<T>[] {
  return informer
    .by(ORPHAN_INDEX, `${cluster}/${namespace ?? ""}`)
    .filter(({ metadata }) => !metadata.deletionTimestamp && matchesLabels(selector, metadata.labels));
}

/** The object with its controller reference. */
export function adopted<O extends DeepReadonly<KubernetesObject>>(object: O, owner: DeepReadonly<KubernetesObject>): O {
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ownerReferences: [...(object.metadata.ownerReferences ?? []), controllerReference(owner)],
    },
  };
}

/** Oldest first, so that the order is deterministic. */
export function ownedBy<T extends KubernetesObject>(
  informer: Informer<T>,
  cluster: string,
  ownerUid: string | undefined,
): DeepReadonly<T>[] {
  return informer.by(CONTROLLER_INDEX, `${cluster}/${ownerUid ?? ""}`).toSorted(byAge);
}

function byAge(a: DeepReadonly<KubernetesObject>, b: DeepReadonly<KubernetesObject>): number {
  const left = a.metadata.creationTimestamp ?? "";
  const right = b.metadata.creationTimestamp ?? "";
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
