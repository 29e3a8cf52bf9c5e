/**
 * What becomes of the claims of an Advanced StatefulSet: with `whenDeleted: Delete` they belong to the set, with
 * `whenScaled: Delete` to their pod once it is to be scaled away, and garbage collection does the rest. Pure.
 *
 * Unlike Kubernetes' own StatefulSet, OpenKruise knows owners by their uid alone and leaves every other reference as it
 * is.
 */
import type { KubernetesObject, OwnerReference } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import type { ReadonlyClaim } from "../../claims.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { ReadonlyStatefulSet } from "./pod-state.ts";

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

/** A pod of this name had the claim before and takes it along: a new pod must wait until it is gone. */
export function isStale(set: ReadonlyStatefulSet, claim: ReadonlyClaim, podName: string): boolean {
  return (
    policyOf(set).whenScaled === "Delete" &&
    (claim.metadata.ownerReferences?.some(({ name }) => name === podName) ?? false)
  );
}

/** The owners that a claim of a pod that stays has from its beginning. */
export function firstOwner(set: ReadonlyStatefulSet): Reference | undefined {
  return policyOf(set).whenDeleted === "Delete" ? referenceTo("apps.kruise.io/v1beta1", "StatefulSet", set) : undefined;
}

/**
 * The claim with the owners that the policy wants; undefined when it has them. `isCondemned`: the pod is to be scaled
 * away.
 */
export function mendedOwners(
  set: ReadonlyStatefulSet,
  claim: ReadonlyClaim,
  pod: ReadonlyPod,
  isCondemned: boolean,
): ReadonlyClaim | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  const goesWithPod = whenScaled === "Delete" && isCondemned;
  const goesWithSet = whenDeleted === "Delete" && !goesWithPod;
  if (isOwned(claim, pod) === goesWithPod && isOwned(claim, set) === goesWithSet) return undefined;

  let owners = claim.metadata.ownerReferences ?? [];
  const change = (owner: Owner, isWanted: boolean, reference: Reference): void => {
    const others = owners.filter(({ uid }) => uid !== reference.uid);
    if (!isWanted) owners = others;
    else if (!isOwned(claim, owner)) owners = [...others, reference];
  };
  change(set, goesWithSet, referenceTo("apps.kruise.io/v1beta1", "StatefulSet", set));
  change(pod, goesWithPod, referenceTo("v1", "Pod", pod));
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: owners } };
}
