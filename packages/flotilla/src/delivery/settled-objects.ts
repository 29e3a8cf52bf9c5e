/**
 * What delivery last found in place or wrote, by object, so that a status change on a member costs no comparison.
 *
 * An entry lives as long as its object is delivered: removing or disowning the object drops it, and so does the
 * deletion of the object on the member. The number of entries is at most the number of delivered
 * objects that exist on the members.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { AnyKind, ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf } from "@flotilla/controller-runtime";
import type { Informer } from "@flotilla/controller-runtime";

interface Settled {
  /** The generation at which the object last matched the desired state, or was written. */
  generation: number | undefined;
  /** The manifest found in place; manifests are shared, so comparing references usually suffices. */
  found?: DeepReadonly<KubernetesObject>;
  /**
   * A digest of the written manifest. A member with incomplete managedFields that normalizes values (`1000m`, `1`)
   * would otherwise receive writes forever.
   */
  written?: string;
}

/** A kind by its names in a URL: a record of a delivered object has no more. */
type Resource = Pick<AnyKind, "group" | "plural">;

export interface SettledObjects {
  get(kind: Resource, key: ObjectKey): Settled | undefined;
  set(kind: AnyKind, key: ObjectKey, settled: Settled): void;
  forget(kind: Resource, key: ObjectKey): void;
  /** The number of entries. */
  size(): number;
}

export function createSettledObjects(informerOf: (kind: AnyKind) => Informer<KubernetesObject>): SettledObjects {
  /** By resource, which is the same object in all versions, and by object. */
  const settled = new Map<string, { objects: Map<string, Settled>; followed: Map<string, () => void> }>();
  const resourceId = ({ group, plural }: Resource): string => `${group}/${plural}`;

  function forget(kind: Resource, key: ObjectKey): void {
    const known = settled.get(resourceId(kind));
    if (!known?.objects.delete(idOfKey(key)) || known.objects.size > 0) return;
    settled.delete(resourceId(kind));
    for (const unsubscribe of known.followed.values()) unsubscribe();
  }

  return {
    get: (kind, key) => settled.get(resourceId(kind))?.objects.get(idOfKey(key)),
    set(kind, key, entry) {
      const known = settled.get(resourceId(kind)) ?? { objects: new Map(), followed: new Map() };
      settled.set(resourceId(kind), known);
      if (!known.followed.has(kind.storageVersion))
        known.followed.set(
          kind.storageVersion,
          informerOf(kind).subscribe(({ cluster, object, deleted }) => {
            if (deleted) forget(kind, keyOf(cluster, object));
          }),
        );
      known.objects.set(idOfKey(key), entry);
    },
    forget,
    size: () => settled.values().reduce((sum, { objects }) => sum + objects.size, 0),
  };
}
