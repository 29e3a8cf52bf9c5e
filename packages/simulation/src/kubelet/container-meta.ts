/**
 * Simulates OpenKruise's node daemon for variables that come from a pod's labels and annotations: it records the values
 * with which each container was started, and restarts containers whose values changed in an in-place update. Only pods
 * with such variables take part, so that others cost no annotation. Pure.
 */
import { RUNTIME_CONTAINERS_ANNOTATION } from "@flotilla/openkruise";
import type { Container, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyContainer = DeepReadonly<Container>;

/**
 * OpenKruise's check whether a container runs what the pod specifies. Injected, because its controllers must compute
 * the same hashes.
 */
export interface ContainerHashes {
  /** Name and image. */
  plain(container: ReadonlyContainer): number;
  /** The variables that come from the pod's metadata. */
  variables(container: ReadonlyContainer, metadata: ReadonlyPod["metadata"]): number;
}

const IN_PLACE_READY = "InPlaceUpdateReady";
const REFERENCE = /^metadata\.(labels|annotations)\['/;
/** Anything longer was not written by the daemon. */
const MAX_LENGTH = 64 * 1024;

const refersToMetadata = ({ env }: ReadonlyContainer): boolean =>
  env?.some(({ valueFrom }) => REFERENCE.test(valueFrom?.fieldRef?.fieldPath ?? "")) ?? false;

export const takesPart = ({ spec }: ReadonlyPod): boolean => spec.containers.some(refersToMetadata);

/** True if a container runs with other values than the pod has now and an in-place update waits for it. */
export function hasStaleVariables(
  { metadata, status }: ReadonlyPod,
  container: ReadonlyContainer,
  hashes: ContainerHashes,
): boolean {
  if (
    !refersToMetadata(container) ||
    !status?.conditions?.some(({ type, status: value }) => type === IN_PLACE_READY && value === "False")
  )
    return false;
  const running = status.containerStatuses?.find(({ name }) => name === container.name);
  const noted = notesOf(metadata.annotations?.[RUNTIME_CONTAINERS_ANNOTATION]).find(
    ({ containerID }) => containerID === running?.containerID,
  )?.variables;
  return (
    running?.state?.running !== undefined && noted !== undefined && noted !== hashes.variables(container, metadata)
  );
}

/** The annotation that matches this status; containers that still run keep their recorded values. */
export function planContainersMeta(
  { metadata, spec }: ReadonlyPod,
  { containerStatuses = [] }: DeepReadonly<PodStatus>,
  hashes: ContainerHashes,
): string {
  const notes = notesOf(metadata.annotations?.[RUNTIME_CONTAINERS_ANNOTATION]);
  const containers = containerStatuses.flatMap(({ name, containerID, restartCount }) => {
    const container = spec.containers.find((candidate) => candidate.name === name);
    if (!container || !containerID) return [];
    const noted = notes.find((note) => note.containerID === containerID);
    return {
      name,
      containerID,
      restartCount,
      hashes: {
        plainHash: noted?.plain ?? hashes.plain(container),
        extractedEnvFromMetadataHash: noted?.variables ?? hashes.variables(container, metadata),
      },
    };
  });
  return JSON.stringify({ containers });
}

interface Note {
  containerID: string;
  plain: number;
  variables: number;
}

/** An unparsable annotation was not written by the daemon; all containers are recorded again. */
function notesOf(text: string | undefined): Note[] {
  if (text === undefined || text.length > MAX_LENGTH) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
  const list = isObject(value) && Array.isArray(value["containers"]) ? value["containers"] : [];
  return list.flatMap((item) => {
    if (!isObject(item)) return [];
    const { containerID, hashes } = item as { containerID?: unknown; hashes?: JsonObject };
    const { plainHash, extractedEnvFromMetadataHash } = hashes ?? {};
    return typeof containerID === "string" &&
      typeof plainHash === "number" &&
      typeof extractedEnvFromMetadataHash === "number"
      ? [{ containerID, plain: plainHash, variables: extractedEnvFromMetadataHash }]
      : [];
  });
}
