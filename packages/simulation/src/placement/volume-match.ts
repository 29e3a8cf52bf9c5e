/**
 * Whether a volume matches a claim: class, mode, access, size and labels, as in Kubernetes' volume controller. Pure.
 */
import { STORAGE_CLASS_ANNOTATION } from "@flotilla/kubernetes";
import type { PersistentVolume, PersistentVolumeClaim } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { milli } from "../amounts.ts";
import { classNameOf } from "./volume-needs.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

export const volumeClassOf = ({ metadata, spec }: Volume): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
export const sizeOf = (amounts: Readonly<Record<string, string | number>> | undefined): number =>
  milli(amounts?.["storage"]);

/** Whether the volume's claimRef is this claim, by uid or by name. */
export function isReservedFor({ spec }: Volume, { metadata }: Claim): boolean {
  const { namespace, name, uid } = spec?.claimRef ?? {};
  return name === metadata.name && namespace === metadata.namespace && (!uid || uid === metadata.uid);
}

/** The volumes that match the claim, best first: one reserved for it, then the smallest that is large enough. */
export function volumesFor(claim: Claim, volumes: readonly Volume[]): Volume[] {
  const selector = claim.spec?.selector && labelSelectorOf(claim.spec.selector);
  const wanted = sizeOf(claim.spec?.resources?.requests);
  return volumes
    .filter((volume) => {
      const { metadata, spec, status } = volume;
      if (metadata.deletionTimestamp) return false;
      if (spec?.claimRef) return isReservedFor(volume, claim) && fits(volume);
      if (status?.phase !== "Available" && status?.phase !== "Pending") return false;
      return (!selector || matchesLabels(selector, metadata.labels)) && fits(volume);
    })
    .sort(
      (a, b) =>
        Number(isReservedFor(b, claim)) - Number(isReservedFor(a, claim)) ||
        sizeOf(a.spec?.capacity) - sizeOf(b.spec?.capacity) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );

  function fits(volume: Volume): boolean {
    const { spec } = volume;
    if (
      volumeClassOf(volume) !== classNameOf(claim) ||
      (spec?.volumeMode ?? "Filesystem") !== (claim.spec?.volumeMode ?? "Filesystem")
    )
      return false;
    if ((spec?.volumeAttributesClassName ?? "") !== (claim.spec?.volumeAttributesClassName ?? "")) return false;
    return (
      sizeOf(spec?.capacity) >= wanted &&
      (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode))
    );
  }
}
