/**
 * An in-place update of one pod's sidecars: new images, and annotations with the hash and the previous state. `flipPod`
 * is the second half of a hot upgrade, in which the previously active container becomes idle. Pure.
 */
import { SIDECAR_SET_HASH_ANNOTATION, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION } from "./sidecarset-hash.ts";
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime, objectOf, omitZero, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { goJson } from "@flotilla/apimachinery";
import { containerToUpgrade, hotPair, imagesOf } from "./hot-upgrade.ts";
import {
  IN_PLACE_STATE_ANNOTATION,
  UPGRADABLE_CONDITION,
  WORKING_CONTAINER_ANNOTATION,
  isHotUpgrade,
  otherVersionAnnotation,
  sidecarNames,
  versionAnnotation,
  withAnnotations,
} from "./sidecarset-names.ts";
import type { ReadonlySidecarSet, StringMap } from "./sidecarset-names.ts";
import { patchAnnotations } from "./patch-metadata.ts";
import {
  formatRecords,
  formatUpdateStates,
  formatWorking,
  isOldForm,
  parseText,
  readRecords,
  readUpdateStates,
  workingContainers,
} from "./records.ts";
import type { HashAnnotation, SidecarRecord } from "./records.ts";

/** The pod with the set's images. Throws `SidecarError` if the set's annotations cannot be merged into it. */
export function upgradePod(given: ReadonlyPod, set: ReadonlySidecarSet, nowMs: number): ReadonlyPod {
  let pod = given;
  const changed: string[] = [];
  for (const container of set.spec.containers ?? []) {
    const { name, image = "" } = container;
    // On a second attempt the active container already has the image.
    const { upgraded, other } = isHotUpgrade(container)
      ? containerToUpgrade(container, pod, set)
      : { upgraded: name, other: name };
    if (imagesOf(pod).get(other) === image) continue;
    pod = withImage(pod, upgraded, image);
    changed.push(upgraded);
    if (isHotUpgrade(container)) pod = withAnnotations(pod, switchedAnnotations(pod, set, name, upgraded, other));
  }
  pod = withUpdateState(withRecord(pod, set, nowMs), set, changed, nowMs);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: patchAnnotations(pod.metadata.annotations ?? {}, set.spec.patchPodMetadata),
    },
  };
}

function withImage(pod: ReadonlyPod, container: string, image: string): ReadonlyPod {
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((item) => (item.name === container ? { ...item, image } : item)),
    },
  };
}

/**
 * The version of a container is that of the set at its update; programs inside read it to know which of the two they
 * are.
 */
function switchedAnnotations(
  pod: ReadonlyPod,
  { metadata }: ReadonlySidecarSet,
  sidecar: string,
  upgraded: string,
  other: string,
): StringMap {
  const version = metadata.resourceVersion ?? "";
  const otherVersion = pod.metadata.annotations?.[versionAnnotation(other)] ?? "";
  return {
    [WORKING_CONTAINER_ANNOTATION]: formatWorking(workingContainers(pod).set(sidecar, upgraded)),
    [versionAnnotation(upgraded)]: version,
    [otherVersionAnnotation(upgraded)]: otherVersion,
    [otherVersionAnnotation(other)]: version,
  };
}

function withRecord(pod: ReadonlyPod, set: ReadonlySidecarSet, nowMs: number): ReadonlyPod {
  const { name, annotations } = set.metadata;
  const updateTimestamp = formatTime(nowMs);
  const { records, isOld } = recordsToUpdate(pod, SIDECAR_SET_HASH_ANNOTATION, name, updateTimestamp);
  const { latestRevision } = set.status ?? {};
  records.set(name, {
    updateTimestamp,
    hash: annotations?.[SIDECAR_SET_HASH_ANNOTATION] ?? "",
    sidecarSetName: name,
    sidecarList: sidecarNames(set),
    controllerRevision: latestRevision || undefined,
  });
  const withoutImage = isOld
    ? recordsToUpdate(pod, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION, name, updateTimestamp)
    : undefined;
  return withAnnotations(pod, {
    [SIDECAR_SET_HASH_ANNOTATION]: formatRecords(records),
    ...defined({
      [SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION]: withoutImage?.isOld
        ? formatRecords(withoutImage.records)
        : undefined,
    }),
  });
}

/** Records of very old releases are converted. */
function recordsToUpdate(
  { metadata }: ReadonlyPod,
  annotation: HashAnnotation,
  set: string,
  updateTimestamp: string,
): { records: Map<string, SidecarRecord>; isOld: boolean } {
  const records = readRecords(metadata.annotations?.[annotation]) ?? new Map<string, SidecarRecord>();
  const isOld = isOldForm(parseText(metadata.annotations?.[annotation]));
  return {
    records: new Map(
      [...records].map(([name, record]) => [
        name,
        isOld ? { ...record, updateTimestamp, sidecarSetName: set } : record,
      ]),
    ),
    isOld,
  };
}

/** Records the current state of the changing containers, so that the end of the update can be detected. */
function withUpdateState(
  pod: ReadonlyPod,
  { metadata }: ReadonlySidecarSet,
  changed: readonly string[],
  nowMs: number,
): ReadonlyPod {
  const states = readUpdateStates(pod) ?? new Map();
  const state = states.get(metadata.name) ?? {
    revision: metadata.annotations?.[SIDECAR_SET_HASH_ANNOTATION] ?? "",
    updateTimestamp: formatTime(nowMs),
  };
  const imageIds = new Map(pod.status?.containerStatuses?.map(({ name, imageID }) => [name, imageID]));
  const last = Object.fromEntries(
    changed.map((name) => [name, imageIds.get(name) ? { imageID: imageIds.get(name) } : {}]),
  );
  states.set(metadata.name, { ...state, lastContainerStatuses: { ...state.lastContainerStatuses, ...last } });
  return withAnnotations(pod, { [IN_PLACE_STATE_ANNOTATION]: formatUpdateStates(states) });
}

/** The end of a hot upgrade: the previously active container becomes idle. */
export function flipPod(given: ReadonlyPod, set: ReadonlySidecarSet, nowMs: number): ReadonlyPod {
  let pod = given;
  const changed: string[] = [];
  for (const container of (set.spec.containers ?? []).filter(isHotUpgrade)) {
    const { working, idle } = hotPair(container.name, pod);
    const emptyImage = container.upgradeStrategy?.hotUpgradeEmptyImage ?? "";
    if (imagesOf(pod).get(idle) === emptyImage) continue;
    pod = withAnnotations(withImage(pod, idle, emptyImage), {
      [versionAnnotation(idle)]: "0",
      [otherVersionAnnotation(working)]: "0",
    });
    changed.push(idle);
  }
  return withUpdateState(pod, set, changed, nowMs);
}

/** The condition that shows users that a pod must be recreated to get its sidecars; undefined if it is already set. */
export function upgradableCondition(
  pod: ReadonlyPod,
  set: string,
  isUpgradable: boolean,
  nowMs: number,
): DeepReadonly<PodCondition> | undefined {
  const before = podCondition(pod, UPGRADABLE_CONDITION);
  const read = parseText(before?.message);
  const sets = { ...objectOf(read), [set]: isUpgradable };
  const all = !Object.values(sets).includes(false);
  const status = all ? "True" : "False";
  const message = goJson(sets);
  const reason = all ? "AllSidecarsetUpgradable" : "UpdateImmutableField";
  if (before?.status === status && before.reason === reason && before.message === message) return undefined;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
  return {
    ...before,
    type: UPGRADABLE_CONDITION,
    status,
    reason,
    message,
    ...omitZero({ lastTransitionTime }),
  };
}
