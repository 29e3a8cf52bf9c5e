/** Whether a pod uses a claim, as the protection controller of Kubernetes decides it. Pure. */
import { controllerOf } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Pod } from "../pod/pod-kind.ts";
import type { PersistentVolumeClaim } from "./persistentvolumeclaim-kind.ts";

/** A claim that a pod uses; one of an ephemeral volume only if the pod owns it. */
export interface ClaimUse {
  readonly claim: string;
  readonly owner?: string | undefined;
}

/**
 * A pod without a node cannot start with a deleted claim. A finished pod counts until it is deleted. The claim of an
 * ephemeral volume does not wait for a pod that only a finalizer keeps: the finalizer may wait for the claim.
 */
export function claimUses({ metadata, spec }: DeepReadonly<Pod>): ClaimUse[] {
  if (!spec.nodeName) return [];
  const isShutDown = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }): ClaimUse[] => {
    if (persistentVolumeClaim) return [{ claim: persistentVolumeClaim.claimName }];
    return ephemeral && !isShutDown ? [{ claim: `${metadata.name}-${name}`, owner: metadata.uid }] : [];
  });
}

export const isUseOf = ({ claim, owner }: ClaimUse, object: DeepReadonly<PersistentVolumeClaim>): boolean =>
  claim === object.metadata.name && (owner === undefined || controllerOf(object)?.uid === owner);
