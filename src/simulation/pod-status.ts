/**
 * What the kubelet of a simulated node reports about a pod: its containers as they run once they have started, and the
 * conditions that follow.
 *
 * Pure: from a pod to the status it should have. Conditions of other writers stay untouched. A status that is right comes
 * out equal, so a converged pod costs no write.
 */
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from "../api/index.ts";
import { formatTime } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { imageIdOf, isBroken, reportedImage, sha256 } from "./images.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type Status = DeepReadonly<PodStatus>;
type Condition = DeepReadonly<PodCondition>;

/** Containers that do not run what the spec asks for. */
export function outdatedContainers({ spec, status }: ReadonlyPod): string[] {
  const running = new Map(status?.containerStatuses?.map(({ name, image }) => [name, image]));
  return spec.containers.filter(({ name, image }) => running.get(name) !== reportedImage(image ?? "")).map(({ name }) => name);
}

/** The status while these containers are down for a new image. Only asked for when the pod would otherwise claim to be ready. */
export function stoppingStatus(pod: ReadonlyPod, containers: readonly string[], nowMs: number): Status {
  const containerStatuses = pod.status?.containerStatuses?.map((status) => (containers.includes(status.name) ? { ...status, ready: false, started: false } : status)) ?? [];
  return withConditions(pod, { ...pod.status, containerStatuses }, nowMs);
}

/** The status once every container has started, or failed to. */
export function settledStatus(pod: ReadonlyPod, hostIP: string | undefined, nowMs: number): Status {
  const { spec, status = {}, metadata } = pod;
  const now = formatTime(nowMs);
  const before = new Map(status.containerStatuses?.map((item) => [item.name, item]));
  const initBefore = new Map(status.initContainerStatuses?.map((item) => [item.name, item]));
  const containerStatuses = spec.containers.map((container) => containerStatus(pod, container, before.get(container.name), now));
  const initContainerStatuses = (spec.initContainers ?? []).map((container) => initStatus(pod, container, initBefore.get(container.name), now));
  const isRunning = containerStatuses.some(({ state }) => state?.running);
  const podIP = status.podIP ?? podAddress(metadata.uid ?? metadata.name);
  return withConditions(
    pod,
    {
      ...status,
      phase: isRunning || status.phase === "Running" ? "Running" : "Pending",
      ...(hostIP && { hostIP, hostIPs: [{ ip: hostIP }] }),
      ...(isRunning && { podIP, podIPs: [{ ip: podIP }] }),
      startTime: status.startTime ?? now,
      ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
      containerStatuses,
    },
    nowMs,
  );
}

function containerStatus({ metadata }: ReadonlyPod, { name, image = "" }: DeepReadonly<Container>, before: DeepReadonly<ContainerStatus> | undefined, now: string): DeepReadonly<ContainerStatus> {
  const reported = reportedImage(image);
  const isSame = before?.image === reported;
  if (isBroken(image)) {
    if (isSame && before.state?.waiting) return before;
    const waiting = { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` };
    return { name, state: { waiting }, ...(before?.state && { lastState: stopped(before, now) }), ready: false, restartCount: before?.restartCount ?? 0, image: reported, imageID: "", started: false };
  }
  if (isSame && before.state?.running) return before.ready && before.started ? before : { ...before, ready: true, started: true };
  const hasRun = before?.state?.running ?? before?.lastState?.terminated;
  const restartCount = before && hasRun ? before.restartCount + 1 : 0;
  return {
    name,
    state: { running: { startedAt: now } },
    ...(before?.state?.running ? { lastState: stopped(before, now) } : before?.lastState && { lastState: before.lastState }),
    ready: true,
    restartCount,
    image: reported,
    imageID: imageIdOf(image),
    containerID: containerId(metadata.uid ?? "", name, restartCount),
    started: true,
  };
}

function stopped({ state, containerID, lastState }: DeepReadonly<ContainerStatus>, now: string): DeepReadonly<NonNullable<ContainerStatus["lastState"]>> {
  if (!state?.running) return lastState ?? {};
  return { terminated: { exitCode: 0, reason: "Completed", ...(state.running.startedAt && { startedAt: state.running.startedAt }), finishedAt: now, ...(containerID && { containerID }) } };
}

/** Init containers succeed at once; those with `restartPolicy: Always` are sidecars and stay. */
function initStatus(pod: ReadonlyPod, container: DeepReadonly<Container>, before: DeepReadonly<ContainerStatus> | undefined, now: string): DeepReadonly<ContainerStatus> {
  const running = containerStatus(pod, container, before?.state?.terminated ? undefined : before, now);
  if (container.restartPolicy === "Always" || running.state?.waiting) return running;
  if (before?.state?.terminated && before.image === running.image) return before;
  return { ...running, state: { terminated: { exitCode: 0, reason: "Completed", startedAt: now, finishedAt: now, ...(running.containerID && { containerID: running.containerID }) } }, started: false };
}

const containerId = (uid: string, name: string, restartCount: number): string => `containerd://${sha256(`${uid}/${name}/${restartCount}`)}`;

/** An address that nobody routes; derived from the UID, so that it needs no allocator and stays the same. */
function podAddress(uid: string): string {
  const hash = Number.parseInt(sha256(uid).slice(0, 6), 16);
  return `10.${hash >> 16}.${(hash >> 8) & 255}.${(hash & 255) || 1}`;
}

function withConditions({ spec }: ReadonlyPod, status: Status, nowMs: number): Status {
  const unready = (status.containerStatuses ?? []).filter(({ ready }) => !ready).map(({ name }) => name);
  const uninitialized = (status.initContainerStatuses ?? []).filter(({ ready }) => !ready).map(({ name }) => name);
  const notReady = { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
  const gates = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = status.conditions?.find(({ type }) => type === conditionType);
    if (gate?.status === "True") return [];
    return gate ? [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`] : [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
  });
  const isUp = unready.length === 0 && uninitialized.length === 0;
  const ready = isUp ? { reason: "ReadinessGatesNotReady", message: gates.join(", ") } : notReady;
  const ours: Condition[] = [
    { type: "PodReadyToStartContainers", status: "True" },
    uninitialized.length > 0 ? { type: "Initialized", status: "False", reason: "ContainersNotInitialized", message: `containers with incomplete status: [${uninitialized.join(" ")}]` } : { type: "Initialized", status: "True" },
    isUp && gates.length === 0 ? { type: "Ready", status: "True" } : { type: "Ready", status: "False", ...ready },
    isUp ? { type: "ContainersReady", status: "True" } : { type: "ContainersReady", status: "False", ...notReady },
    { type: "PodScheduled", status: "True" },
  ];
  const now = formatTime(nowMs);
  const old = status.conditions ?? [];
  const written = new Map(ours.map((condition) => [condition.type, condition]));
  const kept = old.map((condition) => merged(condition, written.get(condition.type), now));
  const added = ours.filter(({ type }) => !old.some((condition) => condition.type === type)).map((condition) => ({ ...condition, lastTransitionTime: now }));
  return { ...status, conditions: [...kept, ...added] };
}

/** The old condition where it still holds, so that times change only with the status. */
function merged(before: Condition, after: Condition | undefined, now: string): Condition {
  if (!after) return before;
  if (before.status !== after.status) return { ...after, lastTransitionTime: now };
  if (before.reason === after.reason && before.message === after.message) return before;
  return { ...after, ...(before.lastTransitionTime && { lastTransitionTime: before.lastTransitionTime }) };
}
