/**
 * The annotations of an in-place update on a pod: its state, and the update that is delayed by a grace period. Both
 * have OpenKruise's format with its order of fields, because other programs read them.
 */
import { isObject, omitEmpty } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { goJson, goStructJson, sortedKeys } from "@flotilla/apimachinery";

export const IN_PLACE_READY = "InPlaceUpdateReady";
export const IN_PLACE_STATE_ANNOTATION = "apps.kruise.io/inplace-update-state";
export const IN_PLACE_GRACE_ANNOTATION = "apps.kruise.io/inplace-update-grace";
export const RUNTIME_CONTAINERS_ANNOTATION = "apps.kruise.io/runtime-containers-meta";
/** The keys that OpenKruise wrote before 1.0 and still reads. */
export const OLD_STATE_ANNOTATION = "inplace-update-state";
export const OLD_GRACE_ANNOTATION = "inplace-update-grace";

type StringMap = Readonly<Record<string, string>>;
/** Labels and annotations that a container's variables reference. */
export interface RefMetadata {
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}
/** Quantities by resource name. */
export interface ContainerResources {
  readonly limits?: StringMap;
  readonly requests?: StringMap;
}

/** The changes between two revisions, by container name. */
export interface UpdateSpec {
  revision: string;
  containerImages: StringMap;
  containerRefMetadata: Readonly<Record<string, RefMetadata>>;
  containerResources: Readonly<Record<string, ContainerResources>>;
  /** A merge patch for the pod's metadata; unset if the metadata did not change. */
  metaDataPatch?: JsonObject;
  updateEnvFromMetadata: boolean;
  graceSeconds: number;
}

export interface UpdateState {
  revision: string;
  updateTimestamp: string;
  /** The previous image IDs of the containers with a new image. */
  lastContainerStatuses?: Readonly<Record<string, { readonly imageID?: string }>>;
  updateEnvFromMetadata?: boolean;
  updateResources?: boolean;
  updateImages?: boolean;
  /** Changes that wait for containers of a higher launch priority. */
  nextContainerImages?: StringMap;
  nextContainerRefMetadata?: Readonly<Record<string, RefMetadata>>;
  nextContainerResources?: Readonly<Record<string, ContainerResources>>;
  preCheckBeforeNext?: { readonly containersRequiredReady?: readonly string[] };
  containerBatchesRecord?: readonly { readonly timestamp: string; readonly containers: readonly string[] }[];
}

const sorted = <T>(map: Readonly<Record<string, T>>): T => sortedKeys(map as unknown as JsonObject) as unknown as T;

export function formatState(state: UpdateState): string {
  return goStructJson({
    revision: state.revision,
    updateTimestamp: state.updateTimestamp,
    lastContainerStatuses: state.lastContainerStatuses ? sorted(state.lastContainerStatuses) : null,
    ...omitEmpty({
      updateEnvFromMetadata: state.updateEnvFromMetadata,
      updateResources: state.updateResources,
      updateImages: state.updateImages,
      nextContainerImages: sorted(state.nextContainerImages ?? {}),
      nextContainerRefMetadata: goMetadata(state.nextContainerRefMetadata ?? {}),
      nextContainerResources: sorted(state.nextContainerResources ?? {}),
      preCheckBeforeNext: state.preCheckBeforeNext,
      containerBatchesRecord: state.containerBatchesRecord,
    }),
  });
}

/** Go's ObjectMeta always has a creation time, null here. */
function goMetadata(byContainer: Readonly<Record<string, RefMetadata>>): Record<string, object> {
  const names = Object.keys(byContainer).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const { labels, annotations } = byContainer[name] ?? {};
      return [
        name,
        {
          creationTimestamp: null,
          labels: labels ? sorted(labels) : undefined,
          annotations: annotations ? sorted(annotations) : undefined,
        },
      ];
    }),
  );
}

export function formatGrace(spec: UpdateSpec): string {
  return goStructJson({
    revision: spec.revision,
    ...omitEmpty({
      containerImages: sorted(spec.containerImages),
      containerRefMetadata: goMetadata(spec.containerRefMetadata),
      containerResources: sorted(spec.containerResources),
      // Go encodes bytes as base64 in JSON.
      metaDataPatch: spec.metaDataPatch && Buffer.from(goJson(spec.metaDataPatch)).toString("base64"),
      updateEnvFromMetadata: spec.updateEnvFromMetadata,
      graceSeconds: spec.graceSeconds,
    }),
  });
}

/** The state of the last in-place update; undefined for a pod without one. Throws for invalid content. */
export function readState({ metadata }: ReadonlyPod): UpdateState | undefined {
  const text = metadata.annotations?.[IN_PLACE_STATE_ANNOTATION] ?? metadata.annotations?.[OLD_STATE_ANNOTATION];
  if (text === undefined) return undefined;
  const state = parseAnnotation(IN_PLACE_STATE_ANNOTATION, text, metadata);
  const check = isObject(state["preCheckBeforeNext"])
    ? state["preCheckBeforeNext"]["containersRequiredReady"]
    : undefined;
  if (![state["containerBatchesRecord"] ?? [], check ?? []].every(Array.isArray))
    throw new TypeError(unreadable(IN_PLACE_STATE_ANNOTATION, metadata));
  return state as unknown as UpdateState;
}

/** False if the state has no further containers to change; cheaper than parsing it. */
export function mentionsNextBatch({ metadata: { annotations } }: ReadonlyPod): boolean {
  return (
    (annotations?.[IN_PLACE_STATE_ANNOTATION] ?? annotations?.[OLD_STATE_ANNOTATION])?.includes("nextContainer") ??
    false
  );
}

/** True while the pod waits for a grace period. */
export function isInGracePeriod({ metadata }: ReadonlyPod): boolean {
  return Boolean(metadata.annotations?.[IN_PLACE_GRACE_ANNOTATION] ?? metadata.annotations?.[OLD_GRACE_ANNOTATION]);
}

/** The delayed update. Throws for invalid content. */
export function readGrace({ metadata }: ReadonlyPod): UpdateSpec | undefined {
  const text = metadata.annotations?.[IN_PLACE_GRACE_ANNOTATION] ?? metadata.annotations?.[OLD_GRACE_ANNOTATION];
  if (!text) return undefined;
  const { metaDataPatch, ...rest } = parseAnnotation(IN_PLACE_GRACE_ANNOTATION, text, metadata);
  const spec = rest as Partial<UpdateSpec>;
  const patch =
    typeof metaDataPatch === "string"
      ? parseAnnotation(IN_PLACE_GRACE_ANNOTATION, Buffer.from(metaDataPatch, "base64").toString(), metadata)
      : undefined;
  return {
    revision: spec.revision ?? "",
    containerImages: spec.containerImages ?? {},
    containerRefMetadata: spec.containerRefMetadata ?? {},
    containerResources: spec.containerResources ?? {},
    updateEnvFromMetadata: spec.updateEnvFromMetadata ?? false,
    graceSeconds: spec.graceSeconds ?? 0,
    metaDataPatch: patch,
  };
}

const unreadable = (key: string, { namespace, name }: ReadonlyPod["metadata"]): string =>
  `reading annotation ${key} of pod ${namespace}/${name}; remove it to start afresh`;

export function parseAnnotation(key: string, text: string, metadata: ReadonlyPod["metadata"]): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Treating the update as complete would set the readiness gate too early.
    throw new TypeError(unreadable(key, metadata), { cause: error });
  }
  if (!isObject(value)) throw new TypeError(unreadable(key, metadata));
  return value;
}
