/**
 * What the claims of a pod say about where it may run: a claim that is bound ties the pod to where its volume is; one
 * that binds with its first consumer must find a volume where the pod goes. Pure over what was seen of claims, volumes
 * and classes.
 */
import { STORAGE_CLASS_ANNOTATION } from "../../api/index.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { NodeView } from "./cluster-view.ts";
import { matchesAnyTerm } from "./node-rules.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Class = DeepReadonly<StorageClass>;

/** Where the first consumer of a claim runs: read by whoever makes the volume. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
export const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export interface VolumeNeeds {
  /** No node will do before this changes. */
  readonly problem?: string;
  /** Why the volumes of the pod cannot be used on a node. */
  readonly refuse: ((node: NodeView) => string | undefined) | undefined;
  /** The node that was chosen when its claims were asked to bind. */
  readonly preferred?: string;
  /** Claims that are to be bound for the pod's node before the pod is. */
  readonly unbound: readonly Claim[];
}

export interface VolumeReader {
  claim(name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  storageClass(name: string): Class | undefined;
  /** Volumes that a claim could take, the best first. */
  candidates(claim: Claim): readonly Volume[];
  /** Another pod that uses the claim. */
  isUsedByOther(claim: string): boolean;
}

export const NO_VOLUMES: VolumeNeeds = { refuse: undefined, unbound: [] };

export const classNameOf = ({ metadata, spec }: Claim): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";

/** The claims that a pod uses; those of ephemeral volumes are called after the pod and the volume. */
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
    preferred ??= claim.metadata.annotations?.[SELECTED_NODE];
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

/** A volume without affinity is everywhere. */
export function isReachable({ spec }: Volume, { node }: Pick<NodeView, "node">): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}
