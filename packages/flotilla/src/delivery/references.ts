/** Owner references of the holders of an object, which are AppliedManifestWorks. Pure. */
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { References } from "./ownership.ts";

type Manifest = DeepReadonly<KubernetesObject>;

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
  reference: OwnerReference,
  isHeld: boolean,
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

export const withReferences = (manifest: Manifest, ownerReferences: References): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, ownerReferences },
});
