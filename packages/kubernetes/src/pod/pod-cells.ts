/** The cells of a pod's table row: its state in one word, and counts over init containers, sidecars and containers. */
import type { DeepReadonly } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import type { ContainerStatus, Pod } from "@flotilla/apimachinery/facts/core-v1.ts";

type ReadPod = DeepReadonly<Pod>;
type ReadStatus = DeepReadonly<ContainerStatus>;

const hasCondition = ({ status }: ReadPod, type: string, value: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === value);

/** Init containers with restartPolicy Always keep running beside the others. */
const sidecarNames = ({ spec }: ReadPod): Set<string> =>
  new Set(
    (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );

/** Signal or exit code of a container that terminated without a reason. */
function endedWith(prefix: string, state: NonNullable<ReadStatus["state"]>["terminated"]): string {
  if (state?.reason) return `${prefix}${state.reason}`;
  return state?.signal ? `${prefix}Signal:${state.signal}` : `${prefix}ExitCode:${state?.exitCode ?? 0}`;
}

/** The state of the first unfinished init container; undefined when all have finished. */
function initStatus(pod: ReadPod): string | undefined {
  const sidecars = sidecarNames(pod);
  for (const [index, { name, state, started }] of (pod.status?.initContainerStatuses ?? []).entries()) {
    if (state?.terminated && (state.terminated.exitCode ?? 0) === 0) continue;
    if (sidecars.has(name) && started) continue;
    if (state?.terminated) return endedWith("Init:", state.terminated);
    const waiting = state?.waiting?.reason;
    if (waiting && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${index}/${pod.spec.initContainers?.length ?? 0}`;
  }
  return undefined;
}

export function podStatus(pod: ReadPod): string {
  const { status, metadata } = pod;
  const gated = (status?.conditions ?? []).some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  let word = gated ? "SchedulingGated" : status?.reason || status?.phase || "";
  const init = initStatus(pod);
  if (init !== undefined && !hasCondition(pod, "Initialized", "True")) word = init;
  else {
    let running = false;
    let failure: string | undefined;
    for (const { state, ready } of (status?.containerStatuses ?? []).toReversed()) {
      if (state?.waiting?.reason) word = state.waiting.reason;
      else if (state?.terminated) {
        word = endedWith("", state.terminated);
        if (state.terminated.exitCode) failure = word;
      } else if (ready && state?.running) running = true;
    }
    // One container has completed; another is still running or has failed.
    if (word === "Completed") {
      if (running && hasCondition(pod, "Ready", "True")) word = "Running";
      else if (failure !== undefined) word = failure;
      else if (running) word = "NotReady";
    }
  }
  if (metadata.deletionTimestamp)
    return status?.reason === "NodeLost"
      ? "Unknown"
      : status?.phase === "Succeeded" || status?.phase === "Failed"
        ? word
        : "Terminating";
  return word;
}

export function podReady(pod: ReadPod): string {
  const sidecars = sidecarNames(pod);
  const isInitial = initStatus(pod) !== undefined && !hasCondition(pod, "Initialized", "True");
  let ready = isInitial
    ? 0
    : (pod.status?.containerStatuses ?? []).filter((container) => container.ready && container.state?.running).length;
  for (const { name, state, started, ready: isReady } of pod.status?.initContainerStatuses ?? []) {
    const isDone = state?.terminated !== undefined && (state.terminated.exitCode ?? 0) === 0;
    if (isDone) continue;
    // Sidecars after one that has not started are skipped.
    if (!sidecars.has(name) || !started) break;
    if (isReady) ready += 1;
  }
  return `${ready}/${(pod.spec.containers ?? []).length + sidecars.size}`;
}

export function podRestarts(pod: ReadPod, nowMs: number): string {
  const sidecars = sidecarNames(pod);
  const inInit = initStatus(pod) !== undefined && !hasCondition(pod, "Initialized", "True");
  const init = pod.status?.initContainerStatuses ?? [];
  const counted = inInit
    ? init
    : [...init.filter(({ name }) => sidecars.has(name)), ...(pod.status?.containerStatuses ?? [])];
  const restarts = counted.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0);
  const last = Math.max(
    ...counted
      .map(({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? ""))
      .filter((time) => !Number.isNaN(time)),
  );
  return restarts > 0 && Number.isFinite(last) ? `${restarts} (${formatAge(nowMs - last)} ago)` : `${restarts}`;
}

export function readinessGates(pod: ReadPod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  return `${gates.filter(({ conditionType }) => hasCondition(pod, conditionType, "True")).length}/${gates.length}`;
}
