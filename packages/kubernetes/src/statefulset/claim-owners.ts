/**
 * Ownership of a StatefulSet's claims: with `whenDeleted: Delete` the set owns them, with `whenScaled: Delete` their
 * pod does once it is to be scaled down, and the garbage collector does the rest. Pure.
 */
import { controllerReference } from "@flotilla/apimachinery";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyClaim } from "../persistentvolumeclaim/template-claims.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";

type Reference = DeepReadonly<OwnerReference>;

const policyOf = ({ spec }: ReadonlyStatefulSet): { whenDeleted: string; whenScaled: string } => ({
  whenDeleted: "Retain",
  whenScaled: "Retain",
  ...spec.persistentVolumeClaimRetentionPolicy,
});
const means = (reference: Reference, { kind, metadata }: DeepReadonly<KubernetesObject>): boolean =>
  reference.kind === kind && reference.name === metadata.name;

/** An earlier pod of the same name owns the claim, which is deleted with it: a new pod must not use it. */
export function isStale(set: ReadonlyStatefulSet, claim: ReadonlyClaim, podName: string): boolean {
  if (policyOf(set).whenScaled === "Retain") return false;
  return claim.metadata.ownerReferences?.some(({ kind, name }) => kind === "Pod" && name === podName) ?? false;
}

function hasOtherController(set: ReadonlyStatefulSet, claim: ReadonlyClaim, pod: ReadonlyPod): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === "Retain" && whenScaled === "Retain") return false;
  return (claim.metadata.ownerReferences ?? []).some((reference) => {
    const owner = [set, pod].find((candidate) => means(reference, candidate));
    return owner ? owner.metadata.uid !== reference.uid : reference.controller === true;
  });
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
  const owners: readonly Reference[] = claim.metadata.ownerReferences ?? [];
  const others = owners.filter((reference) => !means(reference, set) && !means(reference, pod));
  const isStaleOwner = owners.some((reference) =>
    [set, pod].some((owner) => means(reference, owner) && reference.uid !== owner.metadata.uid),
  );
  // A previous owner of the same name is deleted together with the claim.
  if (isStaleOwner) return undefined;
  const wanted = hasOtherController(set, claim, pod) ? others : [...others, ...ownersByPolicy(set, pod, isCondemned)];
  const isSame =
    owners.length === wanted.length &&
    wanted.every(({ uid, controller }) => owners.some((owner) => owner.uid === uid && owner.controller === controller));
  if (isSame) return undefined;
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: wanted } };
}

function ownersByPolicy(set: ReadonlyStatefulSet, pod: ReadonlyPod, isCondemned: boolean): Reference[] {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === "Delete" && isCondemned) return [controllerReference(pod)];
  return whenDeleted === "Delete" ? [controllerReference(set)] : [];
}
