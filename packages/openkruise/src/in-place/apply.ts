/**
 * The steps of an in-place update, each returns the resulting pod:
 *
 * 1. `closeGate`: the pod becomes unready before anything changes;
 * 2. `startUpdate`: images, labels and annotations change, or wait for a grace period; CPU and memory resources are
 * returned, because they are written through the subresource `resize`;
 * 3. `refresh.ts` continues, reconcile by reconcile, until every container runs the new revision.
 *
 * Containers without a launch priority and those with the highest come first; the rest wait until these are ready.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime, setOwn, omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { launchPriorityOf } from "../launch-priority/barrier.ts";
import { hasReadinessGate, withCondition, withReadyFromGates } from "../pod/pod-ready.ts";
import {
  IN_PLACE_GRACE_ANNOTATION,
  IN_PLACE_READY,
  IN_PLACE_STATE_ANNOTATION,
  OLD_GRACE_ANNOTATION,
  OLD_STATE_ANNOTATION,
  formatGrace,
  formatState,
} from "./state.ts";
import type { ContainerResources, RefMetadata, UpdateSpec, UpdateState } from "./state.ts";
import { patchMetadata } from "./update-spec.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface Applied {
  pod: ReadonlyPod;
  /** By container: resources to write through `resize`, before the pod. */
  resize?: Readonly<Record<string, ContainerResources>>;
}

/** The pod with its readiness gate false; the same object if it has no gate, or if nothing restarts. */
export function closeGate(pod: ReadonlyPod, spec: UpdateSpec, gates: FeatureGates, nowMs: number): ReadonlyPod {
  if (
    !hasReadinessGate(pod, IN_PLACE_READY) ||
    (gates.isOn("InPlaceWorkloadVerticalScaling") && !restartsContainers(pod, spec))
  )
    return pod;
  const closed = withCondition(pod, {
    type: IN_PLACE_READY,
    status: "False",
    reason: "StartInPlaceUpdate",
    lastTransitionTime: formatTime(nowMs),
  });
  return withReadyFromGates(closed);
}

/** A pod that is only resized keeps running, unless a container's resize policy requires a restart. */
function restartsContainers(
  { spec: { containers } }: ReadonlyPod,
  { containerImages, containerResources, updateEnvFromMetadata }: UpdateSpec,
): boolean {
  if (Object.keys(containerResources).length === 0 || Object.keys(containerImages).length > 0 || updateEnvFromMetadata)
    return true;
  return containers.some(({ name, resizePolicy = [] }) => {
    const { limits, requests } = containerResources[name] ?? {};
    return resizePolicy.some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === "RestartContainer" && (limits?.[resourceName] ?? requests?.[resourceName]) !== undefined,
    );
  });
}

export interface StartOptions {
  gates: FeatureGates;
  /** Sets the labels of the new revision and the lifecycle state. */
  relabel(pod: ReadonlyPod): ReadonlyPod;
  nowMs: number;
}

/** Starts the update: the pod is marked, and changed at once unless there is a grace period. */
export function startUpdate(pod: ReadonlyPod, spec: UpdateSpec, { gates, relabel, nowMs }: StartOptions): Applied {
  const state: UpdateState = {
    revision: spec.revision,
    updateTimestamp: formatTime(nowMs),
    updateEnvFromMetadata: spec.updateEnvFromMetadata,
    updateImages: Object.keys(spec.containerImages).length > 0,
    updateResources: Object.keys(spec.containerResources).length > 0,
  };
  const marked = withState(relabel(pod), state);
  if (spec.graceSeconds > 0)
    return { pod: withAnnotations(marked, { [IN_PLACE_GRACE_ANNOTATION]: formatGrace(spec) }) };
  const applied = applyBatch(marked, spec, state, gates, nowMs);
  return { ...applied, pod: withoutGrace(applied.pod) };
}

const withAnnotations = (pod: ReadonlyPod, annotations: Readonly<Record<string, string>>): ReadonlyPod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
});

function withState(pod: ReadonlyPod, state: UpdateState): ReadonlyPod {
  const { [OLD_STATE_ANNOTATION]: _old, ...annotations } = pod.metadata.annotations ?? {};
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...annotations, [IN_PLACE_STATE_ANNOTATION]: formatState(state) } },
  };
}

/** The pod without its grace annotation. */
export function withoutGrace(pod: ReadonlyPod): ReadonlyPod {
  const {
    [IN_PLACE_GRACE_ANNOTATION]: _grace,
    [OLD_GRACE_ANNOTATION]: _old,
    ...annotations
  } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** Changes one batch of containers; the changes of the others wait in the state. */
export function applyBatch(
  pod: ReadonlyPod,
  spec: UpdateSpec,
  state: UpdateState,
  gates: FeatureGates,
  nowMs: number,
): Applied {
  const patched = spec.metaDataPatch ? { ...pod, metadata: patchMetadata(pod.metadata, spec.metaDataPatch) } : pod;
  const batch = firstBatch(patched.spec.containers, spec);
  const now = <T>(byContainer: Readonly<Record<string, T>>): Record<string, T> =>
    pick(byContainer, (name) => batch.has(name));
  const later = <T>(byContainer: Readonly<Record<string, T>>): Record<string, T> =>
    pick(byContainer, (name) => !batch.has(name));

  const images = now(spec.containerImages);
  const canResize = gates.isOn("InPlaceWorkloadVerticalScaling");
  const waiting = {
    nextContainerImages: pick(later(spec.containerImages), (name) =>
      patched.spec.containers.some((container) => container.name === name),
    ),
    nextContainerRefMetadata: later(spec.containerRefMetadata),
    nextContainerResources: canResize ? later(spec.containerResources) : {},
  };
  const isLast = Object.values(waiting).every((byContainer) => Object.keys(byContainer).length === 0);
  const names = [...batch].toSorted();
  const { preCheckBeforeNext: _before, ...rest } = state;
  const recorded = recordStatuses(pod, images, state);
  const next: UpdateState = {
    ...rest,
    ...waiting,
    ...omitZero({ lastContainerStatuses: recorded }),
    preCheckBeforeNext: !isLast ? { containersRequiredReady: names } : undefined,
    containerBatchesRecord: [
      ...(state.containerBatchesRecord ?? []),
      { timestamp: formatTime(nowMs), containers: names },
    ],
  };
  const resize = canResize ? now(spec.containerResources) : {};
  const changed = withRefMetadata(withImages(patched, images), now(spec.containerRefMetadata));
  return {
    pod: withAnnotations(changed, { [IN_PLACE_STATE_ANNOTATION]: formatState(next) }),
    resize: Object.keys(resize).length > 0 ? resize : undefined,
  };
}

function pick<T>(map: Readonly<Record<string, T>>, keep: (key: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => keep(key)));
}

/** Records what ran before in the containers that change now. Records of an earlier batch are kept. */
function recordStatuses(
  { status }: ReadonlyPod,
  images: Readonly<Record<string, string>>,
  { lastContainerStatuses }: UpdateState,
): UpdateState["lastContainerStatuses"] {
  const known: Record<string, { readonly imageID?: string }> = { ...lastContainerStatuses };
  for (const { name, imageID } of status?.containerStatuses ?? []) {
    if (Object.hasOwn(images, name) && !Object.hasOwn(known, name)) setOwn(known, name, imageID ? { imageID } : {});
  }
  return lastContainerStatuses || Object.keys(known).length > 0 ? known : undefined;
}

function withImages(pod: ReadonlyPod, images: Readonly<Record<string, string>>): ReadonlyPod {
  if (Object.keys(images).length === 0) return pod;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((container) =>
        Object.hasOwn(images, container.name) ? { ...container, image: images[container.name] ?? "" } : container,
      ),
    },
  };
}

function withRefMetadata(pod: ReadonlyPod, byContainer: Readonly<Record<string, RefMetadata>>): ReadonlyPod {
  const all = Object.values(byContainer);
  if (all.length === 0) return pod;
  const labels = Object.assign({}, pod.metadata.labels, ...all.map((metadata) => metadata.labels)) as Record<
    string,
    string
  >;
  const annotations = Object.assign(
    {},
    pod.metadata.annotations,
    ...all.map((metadata) => metadata.annotations),
  ) as Record<string, string>;
  return { ...pod, metadata: { ...pod.metadata, labels, annotations } };
}

function firstBatch(
  containers: readonly DeepReadonly<Container>[],
  { containerImages, containerRefMetadata, containerResources }: UpdateSpec,
): Set<string> {
  const changing = containers.filter(
    ({ name }) =>
      Object.hasOwn(containerImages, name) ||
      Object.hasOwn(containerRefMetadata, name) ||
      Object.hasOwn(containerResources, name),
  );
  const priorities = changing.flatMap((container) => launchPriorityOf(container) ?? []);
  const highest = priorities.length > 0 ? Math.max(...priorities) : undefined;
  const batch = new Set(
    changing.filter((container) => [undefined, highest].includes(launchPriorityOf(container))).map(({ name }) => name),
  );
  addSharers(batch, containerRefMetadata);
  return batch;
}

/** A label is written once: containers that read a label of this batch change with it, transitively. */
function addSharers(batch: Set<string>, byContainer: Readonly<Record<string, RefMetadata>>): void {
  const keysOf = ({ labels, annotations }: RefMetadata = {}): string[] => [
    ...Object.keys(labels ?? {}).map((key) => `label ${key}`),
    ...Object.keys(annotations ?? {}).map((key) => `annotation ${key}`),
  ];
  const changing = new Set([...batch].flatMap((name) => keysOf(byContainer[name])));
  for (let before = -1; before !== batch.size;) {
    before = batch.size;
    for (const [name, metadata] of Object.entries(byContainer)) {
      if (batch.has(name) || !keysOf(metadata).some((key) => changing.has(key))) continue;
      batch.add(name);
      for (const key of keysOf(metadata)) changing.add(key);
    }
  }
}
