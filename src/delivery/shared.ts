/**
 * Ownership by owner reference: which holders an object names, what that list becomes, and which objects may not be
 * changed. Pure.
 *
 * An object has one owner. An object with the marks of a Karmada Work belongs to that Work, and an object with holders
 * belongs to them. The first one keeps it, and the other reports a conflict.
 */
import type { KubernetesObject, OwnerReference } from "../api/index.ts";
import { equalJson } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ApplyPolicy, SharedOwnership } from "./delivery.ts";
import { APPLIED_DIGEST, deliveringWork, digestOf } from "./marks.ts";

type Manifest = DeepReadonly<KubernetesObject>;
type References = readonly DeepReadonly<OwnerReference>[];

/** The kind of holders, in every version. */
const HOLDER = { group: "work.open-cluster-management.io/", kind: "AppliedManifestWork" };
const isHolder = ({ apiVersion, kind }: DeepReadonly<OwnerReference>): boolean =>
  kind === HOLDER.kind && apiVersion.startsWith(HOLDER.group);

export const holdersOf = ({ metadata }: Manifest): References => (metadata.ownerReferences ?? []).filter(isHolder);
export const isHeldBy = (object: Manifest, { uid }: OwnerReference): boolean =>
  holdersOf(object).some((holder) => holder.uid === uid);
export const otherHolders = (object: Manifest, { uid }: OwnerReference): References =>
  holdersOf(object).filter((holder) => holder.uid !== uid);

/**
 * The desired owner references; undefined when the object has them. A reference to an earlier holder of the same name
 * is replaced.
 */
export function plannedReferences(
  { metadata: { ownerReferences = [] } }: Manifest,
  { reference, isHeld }: SharedOwnership,
): References | undefined {
  const others = ownerReferences.filter((owner) => !(isHolder(owner) && owner.name === reference.name));
  const wanted = isHeld ? [...others, reference] : others;
  if (
    wanted.length === ownerReferences.length &&
    (!isHeld || ownerReferences.some((owner) => equalJson(owner, reference)))
  )
    return undefined;
  return wanted;
}

/** Why the object may not be changed for this holder; undefined when it may. */
export function refusalOf(observed: Manifest, wanted: Manifest, shared: SharedOwnership): string | undefined {
  const { kind, metadata } = observed;
  const place = `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
  const work = deliveringWork(observed);
  if (work !== undefined)
    return `${place} is delivered by the Karmada Work ${work}, and an object has one owner; remove it from that policy, or from this ManifestWork`;
  const [other] = otherHolders(observed, shared.reference);
  const digest = metadata.annotations?.[APPLIED_DIGEST];
  if (!other || !shared.isDelivered || digest === undefined || digest === wanted.metadata.annotations?.[APPLIED_DIGEST])
    return undefined;
  return `${place} is also held by ${other.name}, which specifies other values and wrote last`;
}

/** Why a delivery that uses marks may not take over an object. */
export function holderText({ kind, metadata }: Manifest, cluster: string): string {
  const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  return `resource(kind=${kind}, ${name}) in the cluster ${cluster} belongs to a ManifestWork, and an object has one owner; first remove it from that ManifestWork (deleteOption Orphan leaves it running)`;
}

const noted = new WeakMap<object, Manifest>();

/**
 * The manifest with its digest as an annotation, by which a later reconcile sees that there is nothing left to do. A
 * create-only manifest needs none.
 */
export function withNote(manifest: Manifest, { mode }: ApplyPolicy): Manifest {
  if (mode === "create-only" || mode === "read-only") return manifest;
  const known = noted.get(manifest);
  if (known) return known;
  const result = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      annotations: { ...manifest.metadata.annotations, [APPLIED_DIGEST]: digestOf(manifest) },
    },
  };
  noted.set(manifest, result);
  return result;
}
