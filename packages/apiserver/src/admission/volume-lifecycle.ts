/**
 * Fields that the server sets on volumes, claims and volume attributes classes: the protection finalizer, the initial
 * phase of a volume or claim and the time of its last change, and the two data source fields of a claim.
 */
import { builtInKinds } from "@flotilla/apimachinery";
import {
  PersistentVolume,
  PersistentVolumeClaim,
  prepareClaim,
  VOLUME_PROTECTION_FINALIZER,
  CLAIM_PROTECTION_FINALIZER,
  CLASS_PROTECTION_FINALIZER,
} from "@flotilla/kubernetes";
import type { AdmissionStep, AnyStep, KubernetesObject } from "@flotilla/apimachinery";
import { formatTime, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { writesObject } from "./writes-object.ts";

type ReadVolume = DeepReadonly<PersistentVolume>;

function protect<T extends KubernetesObject>(object: DeepReadonly<T>, finalizer: string): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  const finalizers = metadata.finalizers ?? [];
  return finalizers.includes(finalizer)
    ? object
    : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

const volumes: AdmissionStep<PersistentVolume> = {
  name: "PersistentVolumes",
  for: PersistentVolume,
  on: ["CREATE", "UPDATE"],
  complete({ operation, subresource, object, oldObject, nowMs }) {
    const now = formatTime(nowMs());
    if (operation === "CREATE")
      return {
        ...protect(object, VOLUME_PROTECTION_FINALIZER),
        status: { phase: "Pending", lastPhaseTransitionTime: now },
      };
    return subresource === "status" ? withTransition(object, oldObject ?? object, now) : object;
  },
};

const claims: AdmissionStep<PersistentVolumeClaim> = {
  name: "PersistentVolumeClaims",
  for: PersistentVolumeClaim,
  on: ["CREATE", "UPDATE"],
  matches: writesObject,
  complete({ operation, object, oldObject }) {
    const claim = prepareClaim(object, oldObject);
    return operation === "CREATE"
      ? { ...protect(claim, CLAIM_PROTECTION_FINALIZER), status: { phase: "Pending" } }
      : claim;
  },
};

const classes: AdmissionStep = {
  name: "VolumeAttributesClasses",
  for: builtInKinds("storage.k8s.io/VolumeAttributesClass"),
  on: ["CREATE"],
  complete: ({ object }) => protect(object, CLASS_PROTECTION_FINALIZER),
};

export const volumeLifecycle: readonly AnyStep[] = [volumes, claims, classes];

/** A change of the phase gets a transition time, unless its writer set one. */
function withTransition(object: ReadVolume, { status: before = {} }: ReadVolume, now: string): ReadVolume {
  const { status = {} } = object;
  const { lastPhaseTransitionTime: time } = status;
  const isSame = status.phase === before.phase;
  if (
    isSame
      ? time !== undefined || before.lastPhaseTransitionTime === undefined
      : time !== undefined && time !== before.lastPhaseTransitionTime
  )
    return object;
  const dated = isSame ? before.lastPhaseTransitionTime : now;
  return { ...object, status: { ...status, ...defined({ lastPhaseTransitionTime: dated }) } };
}
