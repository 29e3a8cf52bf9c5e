/**
 * Ownership by owner references, as in OCM: an object names its holders, which are AppliedManifestWorks. It may have
 * several and stays until the last one releases it; it may have existed before. An object that a Karmada Work marked
 * belongs to that Work and is left alone. Pure.
 */
import { defined } from "@flotilla/base";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import { APPLIED_DIGEST, deliveringWork, digestOf } from "./marks.ts";
import type { Ownership, RemovalRequest, RemovalPlan } from "./ownership.ts";
import { STOCK_AGENTS } from "./plan-takeover.ts";
import { isHeldBy, otherHolders, plannedReferences, withReferences } from "./references.ts";
import { objectTitle } from "@flotilla/apimachinery";

type Manifest = DeepReadonly<KubernetesObject>;

export interface ReferencesOwner {
  /** Names the holder. */
  reference: OwnerReference;
  /**
   * False for a holder that maintains the object but must not delete it when the holder is deleted: its reference is
   * removed.
   */
  isHeld: boolean;
  /** The manifest was delivered before: if another holder changed the object since then, that change stays. */
  isDelivered: boolean;
}

export function references({ reference, isHeld, isDelivered }: ReferencesOwner): Ownership {
  return {
    isShared: true,
    stamp: (manifest, mode) => (mode === "create-only" || mode === "read-only" ? manifest : withDigest(manifest)),
    hasDelivered: () => false,
    conflictWith(observed, desired, { mode }) {
      if (mode === "read-only") return undefined;
      const work = deliveringWork(observed);
      if (work !== undefined)
        return (
          `${objectTitle(observed)} is delivered by the Karmada Work ${work}, and an object has one owner; remove it ` +
          "from that policy, or from this ManifestWork"
        );
      const [other] = otherHolders(observed, reference);
      const digest = digestIn(observed);
      if (!other || !isDelivered || digest === undefined || digest === digestIn(desired)) return undefined;
      return `${objectTitle(observed)} is also held by ${other.name}, which specifies other values and wrote last`;
    },
    withOwners(desired, observed) {
      // One manager serves several holders, so each apply names all of them.
      const others = observed ? otherHolders(observed, reference).filter(({ name }) => name !== reference.name) : [];
      const holders = isHeld ? [...others, reference] : others;
      return holders.length === 0
        ? desired
        : withReferences(desired, [...(desired.metadata.ownerReferences ?? []), ...holders]);
    },
    missingReferences: (observed) => plannedReferences(observed, reference, isHeld),
    // The other managers keep their fields.
    takeover: () => ({ isAdopted: false, predecessors: STOCK_AGENTS }),
    planRemoval: (observed, removal) => planRelease(observed, reference, removal),
  };
}

/** Gives an object up for one holder: deletes it if there is no other, and otherwise removes one owner reference. */
function planRelease(
  observed: Manifest,
  reference: OwnerReference,
  { mode, uid }: Pick<RemovalRequest, "mode" | "uid">,
): RemovalPlan {
  const others = otherHolders(observed, reference);
  // An object released earlier may still carry our annotation. An object with the same name but another uid, or
  // delivered by others, does not belong to the holder.
  const isNoted =
    mode === "release" &&
    others.length === 0 &&
    digestIn(observed) !== undefined &&
    observed.metadata.uid === uid &&
    deliveringWork(observed) === undefined;
  if (!isHeldBy(observed, reference) && !isNoted) return "leave";
  if (mode === "release" || others.length > 0) return { patch: withoutReference(observed, reference, isNoted) };
  // The recorded object was deleted; a new one with the same name does not belong to the holder, regardless of its
  // annotations.
  return observed.metadata.uid === uid ? "delete" : "leave";
}

function withoutReference({ metadata }: Manifest, { uid: holder }: OwnerReference, isNoted: boolean): Json {
  const left = (metadata.ownerReferences ?? []).filter((owner) => owner.uid !== holder);
  return {
    metadata: {
      ownerReferences: (left.length > 0 ? left : null) as unknown as Json,
      ...defined({ annotations: isNoted ? { [APPLIED_DIGEST]: null } : undefined }),
      uid: metadata.uid ?? null,
      resourceVersion: metadata.resourceVersion ?? null,
    },
  };
}

const digestIn = ({ metadata }: Manifest): string | undefined => metadata.annotations?.[APPLIED_DIGEST];
/** Manifests are shared and immutable, and each is delivered several times until it settles: it is stamped once. */
const stamped = new WeakMap<object, Manifest>();

/** The manifest with its digest as an annotation, by which a later reconcile sees that there is nothing left to do. */
function withDigest(manifest: Manifest): Manifest {
  const known = stamped.get(manifest);
  if (known) return known;
  const annotations = { ...manifest.metadata.annotations, [APPLIED_DIGEST]: digestOf(manifest) };
  const result = { ...manifest, metadata: { ...manifest.metadata, annotations } };
  stamped.set(manifest, result);
  return result;
}
