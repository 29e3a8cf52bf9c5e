/**
 * In-place update: new images in a running pod, which keeps its name, UID, address and node.
 *
 * Possible when two revisions differ in container images and template metadata alone. While it lasts the pod's
 * `InPlaceUpdateReady` gate is False, so it takes no traffic; `refresh` in `update.ts` opens the gate when every changed
 * container runs its new image. Pure: a step is returned as the pod after it.
 */
import type { Pod } from "../../../api/index.ts";
import { equalJson, formatTime } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { podCondition } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { IN_PLACE_READY, IN_PLACE_STATE_ANNOTATION, LIFECYCLE_STATE_LABEL, LIFECYCLE_TIMESTAMP_ANNOTATION, OLD_IN_PLACE_STATE_ANNOTATION, REVISION_LABEL, TEMPLATE_HASH_LABEL, shortHash } from "./names.ts";
import type { PodTemplate } from "./revisions.ts";

/** What changes between two revisions. A removed key of labels or annotations is null. */
export interface InPlaceChange {
  /** Container name → new image. */
  images: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string | null>>;
  annotations: Readonly<Record<string, string | null>>;
  finalizers: { add: readonly string[]; remove: readonly string[] };
}

/** Undefined when a pod of the old template cannot become one of the new template in place. */
export function planInPlaceChange(oldTemplate: PodTemplate, newTemplate: PodTemplate): InPlaceChange | undefined {
  const before = oldTemplate.spec?.containers ?? [];
  const after = newTemplate.spec?.containers ?? [];
  if (before.length !== after.length) return undefined;
  if (!equalJson({ ...oldTemplate.spec, containers: null }, { ...newTemplate.spec, containers: null })) return undefined;

  const images: [string, string][] = [];
  for (const [index, container] of after.entries()) {
    const old = before[index];
    if (!old || !equalJson({ ...old, image: null }, { ...container, image: null })) return undefined;
    if (old.image === container.image) continue;
    // An image that appears or disappears is more than a replacement.
    if (!old.image || !container.image) return undefined;
    images.push([container.name, container.image]);
  }
  const finalizersBefore = oldTemplate.metadata?.finalizers ?? [];
  const finalizersAfter = newTemplate.metadata?.finalizers ?? [];
  return {
    images: Object.fromEntries(images),
    labels: mapChanges(oldTemplate.metadata?.labels, newTemplate.metadata?.labels),
    annotations: mapChanges(oldTemplate.metadata?.annotations, newTemplate.metadata?.annotations),
    finalizers: {
      add: finalizersAfter.filter((name) => !finalizersBefore.includes(name)),
      remove: finalizersBefore.filter((name) => !finalizersAfter.includes(name)),
    },
  };
}

type StringMap = Readonly<Record<string, string>>;

function mapChanges(before: StringMap = {}, after: StringMap = {}): Record<string, string | null> {
  const set = Object.entries(after).filter(([key, value]) => before[key] !== value);
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return Object.fromEntries<string | null>([...set, ...removed.map((key): [string, null] => [key, null])]);
}

function withChanges(map: StringMap | undefined, changes: Readonly<Record<string, string | null>>): Record<string, string> {
  const entries = new Map(Object.entries(map ?? {}));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) entries.delete(key);
    else entries.set(key, value);
  }
  return Object.fromEntries(entries);
}

/** What `apps.kruise.io/inplace-update-state` holds, in the order in which OpenKruise writes it. */
interface InPlaceState {
  revision: string;
  updateTimestamp: string;
  lastContainerStatuses: Record<string, { imageID?: string }> | null;
  updateImages?: boolean;
  containerBatchesRecord: { timestamp: string; containers: string[] }[];
}

/** The pod with its images, labels and annotations changed and marked as being updated. */
export function startInPlaceUpdate(pod: ReadonlyPod, change: InPlaceChange, revision: string, nowMs: number): DeepReadonly<Pod> {
  const now = formatTime(nowMs);
  const names = Object.keys(change.images).toSorted();
  const statuses = new Map(pod.status?.containerStatuses?.map((status) => [status.name, status]));
  const known = names.filter((name) => statuses.has(name));
  const state: InPlaceState = {
    revision,
    updateTimestamp: now,
    lastContainerStatuses: known.length === 0 ? null : Object.fromEntries(known.map((name) => [name, { imageID: statuses.get(name)?.imageID ?? "" }])),
    ...(names.length > 0 && { updateImages: true }),
    containerBatchesRecord: [{ timestamp: now, containers: names }],
  };
  const labels = withChanges(pod.metadata.labels, change.labels);
  const annotations = withChanges(pod.metadata.annotations, change.annotations);
  const kept = pod.metadata.finalizers?.filter((name) => !change.finalizers.remove.includes(name)) ?? [];
  const finalizers = [...new Set([...kept, ...change.finalizers.add])];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...labels, [REVISION_LABEL]: revision, [TEMPLATE_HASH_LABEL]: shortHash(revision), [LIFECYCLE_STATE_LABEL]: "Updating" },
      annotations: { ...annotations, [IN_PLACE_STATE_ANNOTATION]: JSON.stringify(state), [LIFECYCLE_TIMESTAMP_ANNOTATION]: now },
      ...(finalizers.length > 0 || pod.metadata.finalizers ? { finalizers } : {}),
    },
    spec: {
      ...pod.spec,
      containers: (pod.spec?.containers ?? []).map((container) => {
        const image = change.images[container.name];
        return image === undefined ? container : { ...container, image };
      }),
    },
  };
}

/** The status with the gate closed, or undefined when the pod has no gate. The kubelet would notice later; traffic must stop first. */
export function closeGate(pod: ReadonlyPod, nowMs: number): DeepReadonly<Pod> | undefined {
  if (!hasGate(pod)) return undefined;
  const after = withCondition(pod, { type: IN_PLACE_READY, status: "False", reason: "StartInPlaceUpdate" }, nowMs);
  if (podCondition(pod, "ContainersReady")?.status !== "True") return after;
  const message = `the status of pod readiness gate "${IN_PLACE_READY}" is not "True", but False`;
  return withCondition(after, { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message }, nowMs);
}

/** The status with the gate open, or undefined when there is nothing to open. */
export function openGate(pod: ReadonlyPod, nowMs: number): DeepReadonly<Pod> | undefined {
  if (!hasGate(pod) || podCondition(pod, IN_PLACE_READY)?.status === "True" || !isInPlaceComplete(pod)) return undefined;
  return withCondition(pod, { type: IN_PLACE_READY, status: "True" }, nowMs);
}

function hasGate({ spec }: ReadonlyPod): boolean {
  return spec?.readinessGates?.some(({ conditionType }) => conditionType === IN_PLACE_READY) ?? false;
}

function withCondition(pod: ReadonlyPod, condition: { type: string; status: string; reason?: string; message?: string }, nowMs: number): DeepReadonly<Pod> {
  const before = podCondition(pod, condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : formatTime(nowMs);
  const next = { ...condition, ...(lastTransitionTime && { lastTransitionTime }) };
  const conditions = pod.status?.conditions ?? [];
  const changed = before ? conditions.map((item) => (item === before ? next : item)) : [...conditions, next];
  return { ...pod, status: { ...pod.status, conditions: changed } };
}

/** Every container that the last update changed runs something else than before, or reports the image it should run. */
export function isInPlaceComplete(pod: ReadonlyPod): boolean {
  const recorded = readState(pod)?.lastContainerStatuses ?? {};
  return Object.entries(recorded).every(([name, { imageID }]) => {
    const status = pod.status?.containerStatuses?.find((item) => item.name === name);
    if (!status) return false;
    const image = pod.spec?.containers?.find((container) => container.name === name)?.image ?? "";
    return status.imageID !== imageID || status.image === withTag(image);
  });
}

function readState({ metadata }: ReadonlyPod): Partial<InPlaceState> | undefined {
  const text = metadata.annotations?.[IN_PLACE_STATE_ANNOTATION] ?? metadata.annotations?.[OLD_IN_PLACE_STATE_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Partial<InPlaceState>;
  } catch (error) {
    // Somebody else wrote the annotation. Treating the update as complete would open the gate too early.
    throw new TypeError(`reading annotation ${IN_PLACE_STATE_ANNOTATION} of pod ${metadata.namespace}/${metadata.name}; remove it to start afresh`, { cause: error });
  }
}

function withTag(image: string): string {
  return image.includes("@") || image.lastIndexOf(":") > image.lastIndexOf("/") ? image : `${image}:latest`;
}
