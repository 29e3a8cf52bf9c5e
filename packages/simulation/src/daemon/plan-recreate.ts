/**
 * What OpenKruise's daemon does for the ContainerRecreateRequests of one pod: one request after the other, and of each
 * one container after the other or all at once. Pure.
 */
import { compareText, formatTime, isObject, defined } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import { CONTAINERS_ANNOTATION, UNREADY_ACQUIRED } from "@flotilla/openkruise";
import type { ReadonlyRecreateRequest } from "@flotilla/openkruise";

type ReadonlyPod = DeepReadonly<Pod>;
type Status = NonNullable<ReadonlyRecreateRequest["status"]>;
type State = NonNullable<Status["containerRecreateStates"]>[number];
type ContainerStatus = NonNullable<NonNullable<ReadonlyPod["status"]>["containerStatuses"]>[number];

export interface RecreatePlan {
  /** New statuses of requests. */
  report: readonly { request: ReadonlyRecreateRequest; status: Status }[];
  /** Containers to stop, before the report. */
  stop: readonly string[];
  /** When to look again without an event. */
  waitMs?: number;
}

/** Finished requests are ignored. */
export function planRecreate(
  pod: ReadonlyPod,
  requests: readonly ReadonlyRecreateRequest[],
  nowMs: number,
): RecreatePlan {
  const [picked, ...others] = requests
    .filter(({ metadata, status }) => !metadata.deletionTimestamp && !status?.completionTime)
    .toSorted(byProgress);
  if (!picked) return { report: [], stop: [] };
  const queued = others
    .filter(({ status }) => !status?.phase)
    .map((request) => ({ request, status: { ...request.status, phase: "Pending" } }));
  const step = planStep(pod, picked, nowMs);
  return { ...step, report: [...queued, ...step.report] };
}

const PROGRESS = ["Recreating", "Pending", ""];

const byProgress = (a: ReadonlyRecreateRequest, b: ReadonlyRecreateRequest): number =>
  PROGRESS.indexOf(a.status?.phase ?? "") - PROGRESS.indexOf(b.status?.phase ?? "") ||
  compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
  compareText(a.metadata.name, b.metadata.name);

function planStep(pod: ReadonlyPod, request: ReadonlyRecreateRequest, nowMs: number): RecreatePlan {
  const { spec, status } = request;
  const { unreadyGracePeriodSeconds, minStartedSeconds = 0, failurePolicy, orderedRecreate } = spec.strategy ?? {};
  if (status?.phase !== "Recreating")
    return { report: [{ request, status: { ...status, phase: "Recreating" } }], stop: [] };
  if (unreadyGracePeriodSeconds !== undefined) {
    const since = request.metadata.annotations?.[UNREADY_ACQUIRED];
    // The controller makes the pod unready; the annotation triggers the next step.
    if (!since) return { report: [], stop: [] };
    const leftMs = Date.parse(since) + unreadyGracePeriodSeconds * 1000 - nowMs;
    if (leftMs > 0) return { report: [], stop: [], waitMs: leftMs };
  }
  const states = spec.containers.map((container) => stateOf(pod, request, container, nowMs));
  const { next, stop } = planStops(pod, states, orderedRecreate ?? false);
  const hasFailed = next.some(({ phase }) => phase === "Failed") && failurePolicy !== "Ignore";
  const isOver = hasFailed || next.every(({ phase }) => phase === "Succeeded" || phase === "Failed");
  const reported: Status = {
    ...status,
    containerRecreateStates: next,
    ...defined({ phase: isOver ? "Completed" : undefined, completionTime: isOver ? formatTime(nowMs) : undefined }),
  };
  return {
    report: [{ request, status: reported }],
    stop,
    waitMs: isOver || minStartedSeconds === 0 ? undefined : minStartedSeconds * 1000,
  };
}

/** Stops the containers that are due, and marks them. */
function planStops(pod: ReadonlyPod, states: readonly State[], isOrdered: boolean): { next: State[]; stop: string[] } {
  const stop: string[] = [];
  const next = [...states];
  for (const [index, state] of states.entries()) {
    if (state.phase === "Succeeded" || state.phase === "Failed") continue;
    if (state.phase === "Recreating") next[index] = { ...state, isKilled: true };
    else if (containerOf(pod, state.name)) {
      stop.push(state.name);
      next[index] = { name: state.name, phase: "Recreating", isKilled: true };
    }
    if (isOrdered) break;
  }
  return { next, stop };
}

function stateOf(
  pod: ReadonlyPod,
  { metadata, spec, status }: ReadonlyRecreateRequest,
  { name, statusContext }: ReadonlyRecreateRequest["spec"]["containers"][number],
  nowMs: number,
): State {
  const before = status?.containerRecreateStates?.find((state) => state.name === name);
  if (before?.phase === "Failed" || before?.phase === "Succeeded") return before;
  const container = containerOf(pod, name);
  const isKilled = before?.isKilled;
  const { forceRecreate = false, minStartedSeconds = 0 } = spec.strategy ?? {};
  const inPhase = (phase: string, message?: string): State => ({ name, phase, isKilled, message });
  if (!container) return inPhase("Pending", "not found container on Node");
  if (!container.state?.running) return inPhase("Recreating");
  if (forceRecreate && !isKilled) return { name, phase: "Pending" };
  const isNew =
    statusContext !== undefined &&
    (container.containerID !== statusContext.containerID || container.restartCount > statusContext.restartCount);
  if (!isNew) return inPhase("Pending");
  const seen = seenContainers(metadata.annotations?.[CONTAINERS_ANNOTATION]).find((one) => one["name"] === name);
  const startedMs = Date.parse(container.state.running.startedAt ?? "");
  const hasRun = nowMs - startedMs >= minStartedSeconds * 1000;
  const isReady = seen?.["containerID"] === container.containerID && seen?.["ready"] === true;
  return inPhase(hasRun && isReady ? "Succeeded" : "Recreating");
}

const containerOf = ({ status }: ReadonlyPod, name: string): ContainerStatus | undefined =>
  [...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])].find(
    (container) => container.name === name && container.containerID,
  );

/** Written by OpenKruise's controller; text of others counts as none. */
function seenContainers(text = "[]"): Readonly<Record<string, Json>>[] {
  try {
    const list = JSON.parse(text) as Json;
    return Array.isArray(list) ? list.filter(isObject) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
