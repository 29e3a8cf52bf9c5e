/** Ownership by marks, as in Karmada: labels and annotations name the Work that delivered an object. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { FIELD_MANAGER, isOfAnother, isOurs, isReleasedFrom, mark, releasePatch } from "./marks.ts";
import type { Ownership } from "./ownership.ts";
import { holdersOf } from "./references.ts";

type Manifest = DeepReadonly<KubernetesObject>;

export interface MarksOwner {
  /** The delivering owner, `namespace/name`. It alone may change or remove its objects. Unset is any owner. */
  owner?: string;
  /** The permanent id of that owner. An object with another id came from a later owner of the same name, and stays. */
  ownerId?: string;
  /**
   * Whether an object that we did not create may be taken over. Otherwise such an object is left alone and reported. An
   * object released by the same owner is reclaimed in any case.
   */
  adopt?: boolean;
}

export function marks({ owner, ownerId, adopt = false }: MarksOwner = {}): Ownership {
  return {
    isShared: false,
    stamp: mark,
    hasDelivered: (observed) => isOurs(observed, owner),
    conflictWith(observed, _desired, { cluster }) {
      if (isOurs(observed, owner)) return undefined;
      // Also a released object that could be reclaimed: another holder has it.
      if (holdersOf(observed).length > 0) return heldText(observed, cluster);
      return adopt || isReleasedFrom(observed, owner) ? undefined : conflictText(observed, cluster);
    },
    withOwners: (desired) => desired,
    missingReferences: () => undefined,
    takeover: (observed) => ({ isAdopted: !isOurs(observed, owner) && !isReleasedFrom(observed, owner) }),
    planRemoval(observed, { mode, mayReturn = false }) {
      if (!isOurs(observed, owner) || isOfAnother(observed, ownerId)) return "leave";
      return mode === "delete"
        ? "delete"
        : { patch: releasePatch(observed, FIELD_MANAGER, mayReturn ? owner : undefined) };
    },
  };
}

const nameOf = ({ metadata: { namespace, name } }: Manifest): string => (namespace ? `${namespace}/${name}` : name);

function heldText(object: Manifest, cluster: string): string {
  return (
    `resource(kind=${object.kind}, ${nameOf(object)}) in the cluster ${cluster} belongs to a ManifestWork, ` +
    "and an object has one owner; first remove it from that ManifestWork (deleteOption Orphan leaves it " +
    "running)"
  );
}

/** Karmada's message, which users and their tools know. */
function conflictText(object: Manifest, cluster: string): string {
  return (
    `resource(kind=${object.kind}, ${nameOf(object)}) already exists in the cluster ${cluster} and the ` +
    "work.karmada.io/conflict-resolution strategy value is empty, Flotilla will not manage this resource; " +
    "set conflictResolution: Overwrite in the policy to take it over"
  );
}
