/**
 * What the annotations of a pod say about the sets that it was injected with: by which hash of each, and what ran
 * before an update in place. They are read leniently, for users can write anything there, and written as OpenKruise
 * writes them.
 */
import { SIDECAR_SET_HASH_ANNOTATION, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION } from "../../../api/index.ts";
import { compareText, isObject } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { goStructJson } from "../../../machinery/index.ts";
import { formatState } from "../in-place/state.ts";
import type { UpdateState } from "../in-place/state.ts";
import { IN_PLACE_STATE_ANNOTATION, WORKING_CONTAINER_ANNOTATION } from "./names.ts";

/** What a pod knows of one set. */
export interface SidecarRecord {
  /** Null in what very old releases wrote. */
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

/** Undefined for text that is neither a map of records nor, as very old releases wrote it, a map of hashes. */
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

/** Very old releases wrote nothing but hashes. */
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
    ...(controllerRevision && { controllerRevision }),
  };
}

export function formatRecords(records: SidecarRecords): string {
  const sorted = [...records].toSorted(([a], [b]) => compareText(a, b));
  return goStructJson(
    Object.fromEntries(
      sorted.map(([set, { updateTimestamp, hash, sidecarSetName, sidecarList, controllerRevision }]) => [
        set,
        { updateTimestamp, hash, sidecarSetName, sidecarList, ...(controllerRevision && { controllerRevision }) },
      ]),
    ),
  );
}

/** Pods that an informer holds never change, and a set looks at the same ones again and again. */
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

/** The hash of the set that the pod has; empty when it has none. */
export function podHash(
  pod: ReadonlyPod,
  set: string,
  annotation: HashAnnotation = SIDECAR_SET_HASH_ANNOTATION,
): string {
  return recordsOf(pod, annotation).get(set)?.hash ?? "";
}

/** The revision of the set that the pod has. */
export function podRevision(pod: ReadonlyPod, set: string): string | undefined {
  return recordsOf(pod, SIDECAR_SET_HASH_ANNOTATION).get(set)?.controllerRevision;
}

/** By set; undefined when there is something that cannot be read. */
export function readUpdateStates({ metadata }: ReadonlyPod): Map<string, UpdateState> | undefined {
  const map = parseText(metadata.annotations?.[IN_PLACE_STATE_ANNOTATION]);
  if (!isObject(map)) return undefined;
  const states = new Map<string, UpdateState>();
  for (const [set, state] of Object.entries(map)) {
    if (!isObject(state)) return undefined;
    const { lastContainerStatuses = null, ...rest } = state;
    const last = lastContainerStatuses === null ? null : readLastStatuses(lastContainerStatuses);
    if (last === undefined) return undefined;
    states.set(set, { ...rest, ...(last && { lastContainerStatuses: last }) } as unknown as UpdateState);
  }
  return states;
}

/** What ran before, by container; undefined when it cannot be read. As in Go, null stands for nothing. */
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

/** Which container works, by the name that the set gives it. */
export function workingContainers({ metadata }: ReadonlyPod): Map<string, string> {
  const map = parseText(metadata.annotations?.[WORKING_CONTAINER_ANNOTATION]);
  if (!isObject(map)) return new Map();
  return new Map(Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

export function formatWorking(working: ReadonlyMap<string, string>): string {
  return goStructJson(Object.fromEntries([...working].toSorted(([a], [b]) => compareText(a, b))));
}
