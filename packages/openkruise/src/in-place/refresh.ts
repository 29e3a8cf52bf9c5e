/**
 * The next step of an in-place update, computed on every reconcile: end the grace period, change the next batch of
 * containers, or set the readiness gate when every container runs the new revision. It also sets the gate of a new pod
 * without an update: no such pod becomes ready without the controller.
 */
import type { ContainerStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { compareQuantities, tryParseQuantity } from "@flotilla/apimachinery";
import { podCondition, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { hasReadinessGate, withCondition } from "../pod/pod-ready.ts";
import { applyBatch, withoutGrace } from "./apply.ts";
import type { Applied } from "./apply.ts";
import { envFromMetadataHash, plainHash } from "./container-hashes.ts";
import {
  IN_PLACE_READY,
  RUNTIME_CONTAINERS_ANNOTATION,
  isInGracePeriod,
  mentionsNextBatch,
  parseAnnotation,
  readGrace,
  readState,
} from "./state.ts";
import type { UpdateState } from "./state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface Refreshed extends Applied {
  /** Requeue after this time; 0 if a change of the pod will trigger the next reconcile. */
  delayMs: number;
}

export interface RefreshOptions {
  gates: FeatureGates;
  /** Whether the pod has this revision. */
  hasRevision(pod: ReadonlyPod, revision: string): boolean;
  nowMs: number;
}

/** The pod after the step; the same object if there is none. Throws if an annotation is invalid. */
export function refreshPod(pod: ReadonlyPod, options: RefreshOptions): Refreshed {
  const { gates, nowMs } = options;
  if (isInGracePeriod(pod)) return endGracePeriod(pod, options);
  // Called for every pod in every reconcile, usually without effect: the state is parsed only if something may follow
  // from it.
  if (isGateOpen(pod) && !mentionsNextBatch(pod)) return { pod, delayMs: 0 };
  const state = readState(pod);
  if (state) {
    if (whyContainersIncomplete(pod, state, gates) !== undefined) return { pod, delayMs: 0 };
    if (hasNextBatch(state)) {
      const ready = new Set(pod.status?.containerStatuses?.filter((status) => status.ready).map(({ name }) => name));
      if (!(state.preCheckBeforeNext?.containersRequiredReady ?? []).every((name) => ready.has(name)))
        return { pod, delayMs: 0 };
      return { ...applyBatch(pod, nextSpec(state), state, gates, nowMs), delayMs: 0 };
    }
  }
  return { pod: openGate(pod, nowMs), delayMs: 0 };
}

/** Also true for a pod without the gate. */
function isGateOpen(pod: ReadonlyPod): boolean {
  return podCondition(pod, IN_PLACE_READY)?.status === "True" || !hasReadinessGate(pod, IN_PLACE_READY);
}

function openGate(pod: ReadonlyPod, nowMs: number): ReadonlyPod {
  return hasReadinessGate(pod, IN_PLACE_READY)
    ? withCondition(pod, { type: IN_PLACE_READY, status: "True", lastTransitionTime: formatTime(nowMs) })
    : pod;
}

function endGracePeriod(pod: ReadonlyPod, { gates, hasRevision, nowMs }: RefreshOptions): Refreshed {
  const spec = readGrace(pod);
  const state = readState(pod);
  if (!spec || !state)
    throw new TypeError(
      `pod ${pod.metadata.namespace}/${pod.metadata.name} has a grace period but no state of an in-place update; remove its annotations to start afresh`,
    );
  // The revision changed in the meantime: the delayed update is dropped.
  if (!hasRevision(pod, spec.revision)) return { pod: withoutGrace(pod), delayMs: 0 };
  const leftMs = timeMs(state.updateTimestamp) + spec.graceSeconds * 1000 - nowMs;
  if (leftMs > 0) return { pod, delayMs: Math.ceil(leftMs / 1000) * 1000 };
  const applied = applyBatch(pod, spec, state, gates, nowMs);
  return { ...applied, pod: withoutGrace(applied.pod), delayMs: 0 };
}

const hasKeys = (map: object | null | undefined): boolean => Object.keys(map ?? {}).length > 0;
const hasNextBatch = ({
  nextContainerImages,
  nextContainerRefMetadata,
  nextContainerResources,
}: UpdateState): boolean =>
  hasKeys(nextContainerImages) || hasKeys(nextContainerRefMetadata) || hasKeys(nextContainerResources);

function nextSpec(state: UpdateState) {
  const {
    revision,
    nextContainerImages = {},
    nextContainerRefMetadata = {},
    nextContainerResources = {},
    updateEnvFromMetadata = false,
  } = state;
  return {
    revision,
    containerImages: nextContainerImages,
    containerRefMetadata: nextContainerRefMetadata,
    containerResources: nextContainerResources,
    updateEnvFromMetadata,
    graceSeconds: 0,
  };
}

/** Undefined if the last in-place update is complete, or if there was none. */
export function whyIncomplete(pod: ReadonlyPod, gates: FeatureGates): string | undefined {
  if (isInGracePeriod(pod)) return "still in grace period of in-place update";
  const state = readState(pod);
  if (!state) return undefined;
  return hasNextBatch(state)
    ? "existing containers to in-place update in next batches"
    : whyContainersIncomplete(pod, state, gates);
}

function whyContainersIncomplete(pod: ReadonlyPod, state: UpdateState, gates: FeatureGates): string | undefined {
  const running = readRuntime(pod);
  if (state.updateEnvFromMetadata) {
    if (!running) return "waiting for all containers hash consistent, but runtime-container-meta not found";
    if (!agrees(pod, running, "env")) return "waiting for all containers hash consistent";
  }
  if (state.updateResources && gates.isOn("InPlaceWorkloadVerticalScaling")) {
    const waiting = whyNotResized(pod);
    if (waiting !== undefined) return waiting;
  }
  if (running && agrees(pod, running, "plain")) return undefined;
  return whySameImages(pod, state);
}

/** Every container with a new image runs another image ID than before, or reports the desired image. */
function whySameImages(pod: ReadonlyPod, { lastContainerStatuses = {} }: UpdateState): string | undefined {
  const missing = new Map(Object.entries(lastContainerStatuses ?? {}));
  for (const { name, imageID = "", image } of pod.status?.containerStatuses ?? []) {
    const before = missing.get(name);
    if (!before) continue;
    const wanted = pod.spec.containers.find((container) => container.name === name)?.image;
    if ((before.imageID ?? "") === imageID && (wanted === undefined || image !== withTag(wanted)))
      return `container ${name} imageID not changed`;
    missing.delete(name);
  }
  if (missing.size === 0) return undefined;
  return `not found statuses of containers map[${Array.from(missing, ([name, { imageID = "" }]) => `${name}:{${imageID}}`).join(" ")}]`;
}

/** An image without any colon gets a tag; OpenKruise treats a registry port as a tag, and so does this. */
const withTag = (image: string): string => (image.includes(":") ? image : `${image}:latest`);

/** Why the status does not report the resources of the spec yet. */
function whyNotResized({ spec, status }: ReadonlyPod): string | undefined {
  const statuses = status?.containerStatuses ?? [];
  if (statuses.length !== spec.containers.length) return "some container status is not reported";
  const waiting = statuses.find(({ name, resources }) => {
    const wanted = spec.containers.find((container) => container.name === name)?.resources;
    return (
      !resources || !sameAmounts(wanted?.limits, resources.limits) || !sameAmounts(wanted?.requests, resources.requests)
    );
  });
  return waiting && `container ${waiting.name} resources not changed`;
}

type Amounts = Readonly<Record<string, string | number>>;

function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isSameAmount(a[name], b[name]));
}

function isSameAmount(a: string | number | undefined, b: string | number | undefined): boolean {
  if (a === b) return true;
  const left = tryParseQuantity(a ?? "");
  const right = tryParseQuantity(b ?? "");
  return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
}

/** kruise-daemon's report of a running container. */
interface RuntimeContainer {
  readonly name?: string;
  readonly containerID?: string;
  readonly hashes?: { readonly plainHash?: number; readonly extractedEnvFromMetadataHash?: number };
}

function readRuntime({ metadata }: ReadonlyPod): ReadonlyMap<string, RuntimeContainer> | undefined {
  const text = metadata.annotations?.[RUNTIME_CONTAINERS_ANNOTATION];
  if (text === undefined) return undefined;
  const { containers } = parseAnnotation(RUNTIME_CONTAINERS_ANNOTATION, text, metadata) as {
    containers?: RuntimeContainer[];
  };
  return new Map((Array.isArray(containers) ? containers : []).map((container) => [container.name ?? "", container]));
}

/** Whether all containers run with the expected id and hash. */
function agrees(pod: ReadonlyPod, running: ReadonlyMap<string, RuntimeContainer>, hash: "plain" | "env"): boolean {
  const statuses = new Map<string, DeepReadonly<ContainerStatus>>(
    pod.status?.containerStatuses?.map((status) => [status.name, status]),
  );
  return pod.spec.containers.every((container) => {
    const { containerID = "", hashes } = running.get(container.name) ?? {};
    const status = statuses.get(container.name);
    if (!status || !hashes || containerID !== (status.containerID ?? "")) return false;
    return hash === "plain"
      ? hashes.plainHash === plainHash(container)
      : (hashes.extractedEnvFromMetadataHash ?? 0) === envFromMetadataHash(container, pod.metadata);
  });
}
