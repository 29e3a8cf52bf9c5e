/** Names of the annotations and labels that a SidecarSet writes, as in OpenKruise, and the types of this folder. */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { SidecarContainer as SidecarContainerFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { SidecarSet } from "./sidecarset-kind.ts";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isSidecar } from "@flotilla/kubernetes";

export type ReadonlySidecarSet = DeepReadonly<SidecarSet>;
export type SidecarContainer = DeepReadonly<SidecarContainerFacts>;
export type ReadonlyContainer = DeepReadonly<Container>;
export type StringMap = Readonly<Record<string, string>>;

/** The names of the sets that a pod was injected with, separated by commas. */
export const INJECTED_LIST_ANNOTATION = "kruise.io/sidecarset-injected-list";
/** The state before sidecars were updated in place, by set. */
export const IN_PLACE_STATE_ANNOTATION = "kruise.io/sidecarset-inplace-update-state";
/** The active container of the two of a hot upgrade. */
export const WORKING_CONTAINER_ANNOTATION = "kruise.io/sidecarset-working-hotupgrade-container";
/** On revisions. */
export const SET_NAME_LABEL = "kruise.io/sidecarset-name";
/** Distinguishes injected containers from those of the application. */
export const INJECTED_VARIABLE = "IS_INJECTED";
export const UPGRADABLE_CONDITION = "SidecarSetUpgradable";

/** The namespace of all sets' revisions: users of other namespaces cannot forge them there. */
export const KRUISE_NAMESPACE = "kruise-system";

export const versionAnnotation = (container: string): string => `version.sidecarset.kruise.io/${container}`;
export const otherVersionAnnotation = (container: string): string => `versionalt.sidecarset.kruise.io/${container}`;

export const isHotUpgrade = ({ upgradeStrategy }: SidecarContainer): boolean =>
  upgradeStrategy?.upgradeType === "HotUpgrade";
export const isInjectedContainer = ({ env }: ReadonlyContainer): boolean =>
  env?.find(({ name }) => name === INJECTED_VARIABLE)?.value === "true";

/**
 * More sets than any pod has. Users can write anything into the annotation, and every name costs an index entry and a
 * lookup.
 */
const MAX_SETS = 256;

export function injectedSets({ metadata }: ReadonlyPod): string[] {
  return metadata.annotations?.[INJECTED_LIST_ANNOTATION]?.split(",", MAX_SETS).filter(Boolean) ?? [];
}

/** The names of a set's sidecars that an in-place update covers, sorted. */
export function sidecarNames({ spec }: ReadonlySidecarSet): string[] {
  const names = [...(spec.initContainers ?? []).filter(isSidecar), ...(spec.containers ?? [])].map(({ name }) => name);
  return [...new Set(names)].toSorted();
}

export function withAnnotations(pod: ReadonlyPod, annotations: StringMap): ReadonlyPod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } } };
}

/** The sidecars of a pod cannot be injected; the message is returned to the client that creates the pod. */
export class SidecarError extends FlotillaError {
  constructor(message: string) {
    super("Sidecar", message);
  }
}
