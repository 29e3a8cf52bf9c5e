/**
 * Constraints from the claims of a pod: a bound claim ties the pod to the nodes of its volume; a WaitForFirstConsumer
 * claim must find a volume on the pod's node. Pure over the seen claims, volumes and classes.
 */
import { STORAGE_CLASS_ANNOTATION, SELECTED_NODE_ANNOTATION } from "@flotilla/kubernetes";
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { NodeView } from "./cluster-view.ts";
import { matchesAnyTerm } from "./node-rules.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Class = DeepReadonly<StorageClass>;

export const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export interface VolumeNeeds {
  /** Blocks all nodes until it is resolved. */
  readonly problem?: string;
  /** Why the pod's volumes cannot be used on a node. */
  readonly refuse: ((node: NodeView) => string | undefined) | undefined;
  /** The node that was chosen when its claims were requested to bind. */
  readonly preferred?: string;
  /** Claims that must be bound for the pod's node before the pod is bound. */
  readonly unbound: readonly Claim[];
}

export interface VolumeReader {
  claim(name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  storageClass(name: string): Class | undefined;
  /** Volumes that match a claim, best first. */
  candidates(claim: Claim): readonly Volume[];
  /** Whether another pod uses the claim. */
  isUsedByOther(claim: string): boolean;
}

export const NO_VOLUMES: VolumeNeeds = { refuse: undefined, unbound: [] };

export const classNameOf = ({ metadata, spec }: Claim): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";

/** The claims of a pod; claims of ephemeral volumes are named after the pod and the volume. */
export function claimNamesOf({ metadata, spec }: DeepReadonly<Pod>): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : ephemeral ? [`${metadata.name}-${name}`] : [],
  );
}

export function volumeNeeds(pod: DeepReadonly<Pod>, read: VolumeReader): VolumeNeeds {
  const names = claimNamesOf(pod);
  if (names.length === 0) return NO_VOLUMES;
  const volumes: Volume[] = [];
  const unbound: Claim[] = [];
  const candidates: { claim: Claim; volumes: readonly Volume[]; canBeMade: boolean }[] = [];
  let preferred: string | undefined;
  let isExclusive = false;
  for (const name of names) {
    const claim = read.claim(name);
    if (!claim) return { ...NO_VOLUMES, problem: `persistentvolumeclaim ${JSON.stringify(name)} not found` };
    if (claim.status?.phase === "Lost")
      return {
        ...NO_VOLUMES,
        problem: `persistentvolumeclaim ${JSON.stringify(name)} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? "")}`,
      };
    if (claim.metadata.deletionTimestamp)
      return { ...NO_VOLUMES, problem: `persistentvolumeclaim ${JSON.stringify(name)} is being deleted` };
    isExclusive ||= (claim.spec?.accessModes?.includes("ReadWriteOncePod") ?? false) && read.isUsedByOther(name);
    const volumeName = claim.spec?.volumeName;
    if (volumeName && claim.status?.phase === "Bound") {
      const volume = read.volume(volumeName);
      if (volume) volumes.push(volume);
      continue;
    }
    const storageClass = read.storageClass(classNameOf(claim));
    if (volumeName || storageClass?.volumeBindingMode !== "WaitForFirstConsumer")
      return { ...NO_VOLUMES, problem: "pod has unbound immediate PersistentVolumeClaims" };
    preferred ??= claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
    unbound.push(claim);
    candidates.push({ claim, volumes: read.candidates(claim), canBeMade: storageClass.provisioner !== NO_PROVISIONER });
  }
  return {
    unbound,
    preferred,
    refuse(node) {
      if (isExclusive)
        return "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
      if (!volumes.every((volume) => isReachable(volume, node)))
        return "node(s) didn't match PersistentVolume's node affinity";
      const finds = candidates.every(
        ({ volumes: some, canBeMade }) => canBeMade || some.some((volume) => isReachable(volume, node)),
      );
      return finds ? undefined : "node(s) didn't find available persistent volumes to bind";
    },
  };
}

/** A volume without node affinity is reachable from every node. */
export function isReachable({ spec }: Volume, { node }: Pick<NodeView, "node">): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}
