/**
 * Ownership of an Advanced StatefulSet's claims: with `whenDeleted: Delete` the set owns them, with `whenScaled:
 * Delete` their pod does once it is to be scaled down, and the garbage collector does the rest. Pure.
 *
 * Unlike Kubernetes' own StatefulSet, OpenKruise identifies owners by uid alone and keeps every other reference.
 */
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyClaim, ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";

type Reference = DeepReadonly<OwnerReference>;
type Owner = DeepReadonly<Pick<KubernetesObject, "metadata">>;

const policyOf = ({ spec }: ReadonlyStatefulSet): { whenDeleted?: string; whenScaled?: string } =>
  spec.persistentVolumeClaimRetentionPolicy ?? {};
const isOwned = ({ metadata }: ReadonlyClaim, owner: Owner): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === (owner.metadata.uid ?? "")) ?? false;
const referenceTo = (apiVersion: string, kind: string, { metadata: { name, uid = "" } }: Owner): Reference => ({
  apiVersion,
  kind,
  name,
  uid,
});

/** An earlier pod of this name owns the claim, which is deleted with it: a new pod must wait for that. */
export function isStale(set: ReadonlyStatefulSet, claim: ReadonlyClaim, podName: string): boolean {
  return (
    policyOf(set).whenScaled === "Delete" &&
    (claim.metadata.ownerReferences?.some(({ name }) => name === podName) ?? false)
  );
}

/** The initial owner of a claim whose pod stays. */
export function firstOwner(set: ReadonlyStatefulSet): Reference | undefined {
  return policyOf(set).whenDeleted === "Delete" ? referenceTo("apps.kruise.io/v1beta1", "StatefulSet", set) : undefined;
}

/**
 * The claim with the owners that the policy requires; undefined if they are correct. `isCondemned`: the pod is to be
 * scaled down.
 */
export function mendedOwners(
  set: ReadonlyStatefulSet,
  claim: ReadonlyClaim,
  pod: ReadonlyPod,
  isCondemned: boolean,
): ReadonlyClaim | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  const endsWithPod = whenScaled === "Delete" && isCondemned;
  const endsWithSet = whenDeleted === "Delete" && !endsWithPod;
  if (isOwned(claim, pod) === endsWithPod && isOwned(claim, set) === endsWithSet) return undefined;

  let owners = claim.metadata.ownerReferences ?? [];
  const change = (owner: Owner, isWanted: boolean, reference: Reference): void => {
    const others = owners.filter(({ uid }) => uid !== reference.uid);
    if (!isWanted) owners = others;
    else if (!isOwned(claim, owner)) owners = [...others, reference];
  };
  change(set, endsWithSet, referenceTo("apps.kruise.io/v1beta1", "StatefulSet", set));
  change(pod, endsWithPod, referenceTo("v1", "Pod", pod));
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: owners } };
}
