/**
 * The annotations of a pod about its injected sets: the hash of each, and the state before an in-place update. Parsed
 * leniently, because users can write anything there, and written in OpenKruise's format.
 */
import { SIDECAR_SET_HASH_ANNOTATION, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION } from "./sidecarset-hash.ts";
import { compareText, isObject, omitZero } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { goStructJson } from "@flotilla/apimachinery";
import { formatState } from "../in-place/state.ts";
import type { UpdateState } from "../in-place/state.ts";
import { IN_PLACE_STATE_ANNOTATION, WORKING_CONTAINER_ANNOTATION } from "./sidecarset-names.ts";

/** A pod's record of one set. */
export interface SidecarRecord {
  /** Null in records of very old releases. */
  updateTimestamp: string | null;
  hash: string;
  sidecarSetName: string;
  sidecarList: readonly string[] | null;
  controllerRevision?: string;
}

export type SidecarRecords = ReadonlyMap<string, SidecarRecord>;
export type HashAnnotation = typeof SIDECAR_SET_HASH_ANNOTATION | typeof SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION;

export function parseText(text: string | undefined): unknown {
  if (text === undefined || text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Undefined for text that is neither a map of records nor a map of hashes, as very old releases wrote it. */
export function readRecords(text: string | undefined): SidecarRecords | undefined {
  const map = parseText(text);
  if (map === null) return new Map();
  if (!isObject(map)) return undefined;
  const isOld = isOldForm(map);
  const records = new Map<string, SidecarRecord>();
  for (const [set, value] of Object.entries(map)) {
    const record =
      isOld && typeof value === "string"
        ? { updateTimestamp: null, hash: value, sidecarSetName: set, sidecarList: null }
        : readRecord(value);
    if (!record) return undefined;
    records.set(set, record);
  }
  return records;
}

/** Very old releases wrote only hashes. */
export function isOldForm(map: unknown): boolean {
  const values = isObject(map) ? Object.values(map) : [];
  return values.length > 0 && values.every((value) => typeof value === "string");
}

function readRecord(value: unknown): SidecarRecord | undefined {
  if (!isObject(value)) return undefined;
  const { updateTimestamp = null, hash = "", sidecarSetName = "", sidecarList = null, controllerRevision = "" } = value;
  if (
    typeof hash !== "string" ||
    typeof sidecarSetName !== "string" ||
    typeof controllerRevision !== "string" ||
    (updateTimestamp !== null && typeof updateTimestamp !== "string")
  )
    return undefined;
  const list = Array.isArray(sidecarList) ? sidecarList.filter((name) => typeof name === "string") : null;
  return {
    updateTimestamp,
    hash,
    sidecarSetName,
    sidecarList: list,
    ...omitZero({ controllerRevision }),
  };
}

export function formatRecords(records: SidecarRecords): string {
  const sorted = [...records].toSorted(([a], [b]) => compareText(a, b));
  return goStructJson(
    Object.fromEntries(
      sorted.map(([set, { updateTimestamp, hash, sidecarSetName, sidecarList, controllerRevision }]) => [
        set,
        { updateTimestamp, hash, sidecarSetName, sidecarList, ...omitZero({ controllerRevision }) },
      ]),
    ),
  );
}

/** Pods in an informer are immutable, and a set evaluates the same ones repeatedly. */
const known: Record<HashAnnotation, WeakMap<ReadonlyPod, SidecarRecords>> = {
  [SIDECAR_SET_HASH_ANNOTATION]: new WeakMap(),
  [SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION]: new WeakMap(),
};
const NONE: SidecarRecords = new Map();

function recordsOf(pod: ReadonlyPod, annotation: HashAnnotation): SidecarRecords {
  let records = known[annotation].get(pod);
  if (!records) known[annotation].set(pod, (records = readRecords(pod.metadata.annotations?.[annotation]) ?? NONE));
  return records;
}

/** The pod's hash of the set; empty if it has none. */
export function podHash(
  pod: ReadonlyPod,
  set: string,
  annotation: HashAnnotation = SIDECAR_SET_HASH_ANNOTATION,
): string {
  return recordsOf(pod, annotation).get(set)?.hash ?? "";
}

/** The pod's revision of the set. */
export function podRevision(pod: ReadonlyPod, set: string): string | undefined {
  return recordsOf(pod, SIDECAR_SET_HASH_ANNOTATION).get(set)?.controllerRevision;
}

/** By set; undefined if the content is invalid. */
export function readUpdateStates({ metadata }: ReadonlyPod): Map<string, UpdateState> | undefined {
  const map = parseText(metadata.annotations?.[IN_PLACE_STATE_ANNOTATION]);
  if (!isObject(map)) return undefined;
  const states = new Map<string, UpdateState>();
  for (const [set, state] of Object.entries(map)) {
    if (!isObject(state)) return undefined;
    const { lastContainerStatuses = null, ...rest } = state;
    const last = lastContainerStatuses === null ? null : readLastStatuses(lastContainerStatuses);
    if (last === undefined) return undefined;
    states.set(set, { ...rest, ...omitZero({ lastContainerStatuses: last }) } as unknown as UpdateState);
  }
  return states;
}

/** The previous statuses by container; undefined if invalid. As in Go, null means absent. */
function readLastStatuses(value: unknown): UpdateState["lastContainerStatuses"] {
  if (!isObject(value)) return undefined;
  const entries: [string, { imageID?: string }][] = [];
  for (const [name, status] of Object.entries(value)) {
    if (status !== null && !isObject(status)) return undefined;
    const imageID = status?.["imageID"] ?? undefined;
    if (imageID !== undefined && typeof imageID !== "string") return undefined;
    entries.push([name, imageID === undefined ? {} : { imageID }]);
  }
  return Object.fromEntries(entries);
}

export function formatUpdateStates(states: ReadonlyMap<string, UpdateState>): string {
  const parts = [...states]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([set, state]) => `${goStructJson(set)}:${formatState(state)}`);
  return `{${parts.join(",")}}`;
}

/** The active container, by the sidecar's name in the set. */
export function workingContainers({ metadata }: ReadonlyPod): Map<string, string> {
  const map = parseText(metadata.annotations?.[WORKING_CONTAINER_ANNOTATION]);
  if (!isObject(map)) return new Map();
  return new Map(Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

export function formatWorking(working: ReadonlyMap<string, string>): string {
  return goStructJson(Object.fromEntries([...working].toSorted(([a], [b]) => compareText(a, b))));
}
