/**
 * Compares the claims of a pod with the claim templates, and plans their expansion.
 *
 * Claims can only grow. With `volumeClaimUpdateStrategy: OnPodRollingUpdate` a claim is expanded when its pod is
 * updated; with any other strategy only new claims have the new size, and these counts appear only in the status. Pure.
 */
import type { ReadonlyClaim, StorageClass } from "@flotilla/kubernetes";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { compareQuantities, parseQuantity } from "@flotilla/apimachinery";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";

/** On an expanded claim: the set that waits for it. */
export const RESIZED_BY_ANNOTATION = "apps.kruise.io/owned-by-asts";

export interface ClaimState {
  /** The claim requests at least as much as the template, with the same class and modes. */
  isCompatible: boolean;
  /** The volume has the requested capacity. */
  isReady: boolean;
}

type Amounts = Readonly<Record<string, string | number>> | undefined;

/** A missing quantity is 0. */
const isLess = (a: Amounts, b: Amounts): boolean =>
  compareQuantities(parseQuantity(a?.["storage"] ?? "0"), parseQuantity(b?.["storage"] ?? "0")) < 0;

/** A claim of the default class has a class that its template does not name. */
function isOfSameSort(claim: ReadonlyClaim, template: ReadonlyClaim): boolean {
  const [have, want] = [claim.spec?.storageClassName, template.spec?.storageClassName];
  return (
    (have === undefined || want === undefined || have === want) &&
    equalJson(claim.spec?.accessModes ?? [], template.spec?.accessModes ?? [])
  );
}

const needsGrowth = (claim: ReadonlyClaim, template: ReadonlyClaim): boolean =>
  isLess(claim.spec?.resources?.requests, template.spec?.resources?.requests);

export function claimState(claim: ReadonlyClaim, template: ReadonlyClaim): ClaimState {
  if (!isOfSameSort(claim, template)) return { isCompatible: false, isReady: false };
  return {
    isCompatible: !needsGrowth(claim, template),
    isReady: !isLess(claim.status?.capacity, claim.spec?.resources?.requests),
  };
}

/** The kubelet completes the file system expansion when the pod starts. */
export function isGrown(claim: ReadonlyClaim, template: ReadonlyClaim): boolean {
  const { isCompatible, isReady } = claimState(claim, template);
  return (
    isCompatible &&
    (isReady ||
      (claim.status?.conditions?.some(({ type, status }) => type === "FileSystemResizePending" && status === "True") ??
        false))
  );
}

export type Growth =
  | { claim: ReadonlyClaim }
  /** The claim cannot be changed to match the template. An event is emitted if only a new claim can fix it. */
  | { problem: string; needsEvent: boolean };

/** The required change of the claim; undefined if it is correct. */
export function planGrowth(
  set: ReadonlyStatefulSet,
  pod: string,
  claim: ReadonlyClaim,
  template: ReadonlyClaim,
  classNamed: (name: string) => DeepReadonly<StorageClass> | undefined,
): Growth | undefined {
  const { name } = claim.metadata;
  if (!isOfSameSort(claim, template))
    return {
      problem: `can not patch pvc ${name}: contains diff other than spec resource, wait pvc to be deleted`,
      needsEvent: true,
    };
  if (!needsGrowth(claim, template)) return undefined;
  const className = claim.spec?.storageClassName;
  if (className !== undefined) {
    const storageClass = classNamed(className);
    if (!storageClass)
      return { problem: `could not get sc ${className} for ${pod} when checking PVC spec`, needsEvent: false };
    if (!storageClass.allowVolumeExpansion)
      return { problem: `storage class ${className} for ${pod} does not support volume expansion`, needsEvent: false };
  }
  const annotations = { ...claim.metadata.annotations, [RESIZED_BY_ANNOTATION]: set.metadata.name };
  return {
    claim: {
      ...claim,
      metadata: { ...claim.metadata, annotations },
      spec: { ...claim.spec, ...defined({ resources: template.spec?.resources }) },
    },
  };
}
