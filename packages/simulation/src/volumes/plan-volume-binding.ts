/**
 * Which volume a claim is bound to: the one that it names, one that is reserved for it, an existing one that fits, or a
 * new one. Pure, over the volumes of a member.
 */
import { SELECTED_NODE_ANNOTATION } from "@flotilla/kubernetes";
import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { isReservedFor } from "../placement/volume-match.ts";
import { NO_PROVISIONER, classNameOf, isReachable } from "../placement/volume-needs.ts";
import type { VolumeReads } from "../placement/volume-reads.ts";

export type BindingPlan =
  | { bindTo: DeepReadonly<PersistentVolume> }
  | { provisionBy: DeepReadonly<StorageClass> }
  | { missingClass: string }
  /** The claim waits for a volume, or for a pod that uses it. */
  | { waits: true };

const WAITS: BindingPlan = { waits: true };

export function planBinding(
  claim: DeepReadonly<PersistentVolumeClaim>,
  cluster: string,
  reads: Pick<VolumeReads, "volumes" | "classes" | "heldBy" | "candidates">,
  nodeNamed: (name: string) => DeepReadonly<Node> | undefined,
): BindingPlan {
  const named = claim.spec?.volumeName;
  if (named) {
    const volume = reads.volumes.get({ cluster, name: named });
    return volume && (!volume.spec?.claimRef || isReservedFor(volume, claim)) ? { bindTo: volume } : WAITS;
  }
  const held = reads.heldBy(cluster, claim);
  if (held) return { bindTo: held }; // An earlier binding was interrupted.
  const className = classNameOf(claim);
  const storageClass = className === "" ? undefined : reads.classes.get({ cluster, name: className });
  const nodeName = claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
  if (storageClass?.volumeBindingMode === "WaitForFirstConsumer" && nodeName === undefined) return WAITS;
  const node = nodeName === undefined ? undefined : nodeNamed(nodeName);
  const found = reads.candidates(cluster, claim).find((volume) => !node || isReachable(volume, { node }));
  if (found) return { bindTo: found };
  if (!storageClass) return className === "" ? WAITS : { missingClass: className };
  return storageClass.provisioner === NO_PROVISIONER ? WAITS : { provisionBy: storageClass };
}
