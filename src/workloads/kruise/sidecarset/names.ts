/** What a SidecarSet writes on pods, by the names that OpenKruise gives it, and the types of this folder. */
import type { Container, SidecarContainer as SidecarContainerFacts, SidecarSet } from "../../../api/index.ts";
import { FlotillaError } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";

export type ReadonlySidecarSet = DeepReadonly<SidecarSet>;
export type SidecarContainer = DeepReadonly<SidecarContainerFacts>;
export type ReadonlyContainer = DeepReadonly<Container>;
export type StringMap = Readonly<Record<string, string>>;

/** The names of the sets that a pod was injected with, separated by commas. */
export const INJECTED_LIST_ANNOTATION = "kruise.io/sidecarset-injected-list";
/** What ran before sidecars were updated in place, by set. */
export const IN_PLACE_STATE_ANNOTATION = "kruise.io/sidecarset-inplace-update-state";
/** Which of the two containers of a hot upgrade works. */
export const WORKING_CONTAINER_ANNOTATION = "kruise.io/sidecarset-working-hotupgrade-container";
/** On revisions. */
export const SET_NAME_LABEL = "kruise.io/sidecarset-name";
export const CUSTOM_VERSION_LABEL = "apps.kruise.io/sidecarset-custom-version";
/** Tells containers that were injected from those of the application. */
export const INJECTED_VARIABLE = "IS_INJECTED";
export const UPGRADABLE_CONDITION = "SidecarSetUpgradable";

/** Where the revisions of all sets are: users of other namespaces cannot forge them there. */
export const KRUISE_NAMESPACE = "kruise-system";

export const versionAnnotation = (container: string): string => `version.sidecarset.kruise.io/${container}`;
export const otherVersionAnnotation = (container: string): string => `versionalt.sidecarset.kruise.io/${container}`;

export const isHotUpgrade = ({ upgradeStrategy }: SidecarContainer): boolean =>
  upgradeStrategy?.upgradeType === "HotUpgrade";
/** An init container that keeps running is a sidecar by Kubernetes' own means. */
export const isNativeSidecar = ({ restartPolicy }: ReadonlyContainer): boolean => restartPolicy === "Always";
export const isInjectedContainer = ({ env }: ReadonlyContainer): boolean =>
  env?.find(({ name }) => name === INJECTED_VARIABLE)?.value === "true";

/**
 * More than any pod has sidecars. Users can write anything into the annotation, and every name costs an entry of an
 * index and a look at the set.
 */
const MAX_SETS = 256;

export function injectedSets({ metadata }: ReadonlyPod): string[] {
  return metadata.annotations?.[INJECTED_LIST_ANNOTATION]?.split(",", MAX_SETS).filter(Boolean) ?? [];
}

/** The names of the sidecars of a set that an update in place is about, sorted. */
export function sidecarNames({ spec }: ReadonlySidecarSet): string[] {
  const names = [...(spec.initContainers ?? []).filter(isNativeSidecar), ...(spec.containers ?? [])].map(
    ({ name }) => name,
  );
  return [...new Set(names)].toSorted();
}

export function withAnnotations(pod: ReadonlyPod, annotations: StringMap): ReadonlyPod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } } };
}

/** A pod cannot get the sidecars that its sets have for it; the message is what whoever creates it is told. */
export class SidecarError extends FlotillaError {
  constructor(message: string) {
    super("Sidecar", message);
  }
}
