/**
 * The status that the kubelet of a simulated node reports for a pod: its containers, the resulting phase and
 * conditions, and the time of the next change that needs no event.
 *
 * Pure: from a pod to the desired status. A correct status comes out equal, so a converged pod costs no write.
 */
import type { Container, ContainerStatus, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { formatTime, defined, omitZero, omitEmpty } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { behaviourOf, initBehaviourOf } from "./behaviour.ts";
import type { Behaviour } from "./behaviour.ts";
import { mergeConditions, withConditions } from "./pod-conditions.ts";
import { stepContainer, terminatedOf, waiting } from "./container.ts";
import type { ContainerSituation, Step } from "./container.ts";
import { reportedImage } from "./images.ts";
import { planResize, restartsForResize } from "./resize.ts";
import { scriptOf } from "./script.ts";
import type { ResizePlan, Room } from "./resize.ts";
import { isSidecar } from "@flotilla/kubernetes";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyContainer = DeepReadonly<Container>;
type Status = DeepReadonly<PodStatus>;
type Item = DeepReadonly<ContainerStatus>;

export interface Environment {
  readonly nowMs: number;
  readonly hostIP?: string | undefined;
  /** An address for a pod without one. */
  podIP(): string;
  /** Why the whole pod cannot start: a volume cannot be mounted. */
  readonly mountProblem?: string | undefined;
  /** Why a container cannot be created: a reference is missing. */
  problemOf?(container: ReadonlyContainer): string | undefined;
  /** A container whose variables changed with the pod's metadata. */
  hasStaleVariables?(container: ReadonlyContainer): boolean;
  room?(): Room | undefined;
}

export interface PodPlan {
  readonly status: Status;
  /** The time of the next change that needs no event. */
  readonly dueMs?: number;
}

const ENDLESS: Behaviour = { fault: undefined, runMs: undefined, exitCode: 0 };

const byName = (statuses: readonly Item[] | undefined): Map<string, Item> =>
  new Map(statuses?.map((item) => [item.name, item]));

/** Containers that do not run what the spec specifies, and are not already being restarted. */
export function outdatedContainers(
  pod: ReadonlyPod,
  around: Pick<Environment, "hasStaleVariables" | "room"> = {},
): string[] {
  const { spec, status } = pod;
  const known = byName(status?.containerStatuses);
  const isHeld = (): boolean => planResize(pod, known, around.room ?? (() => undefined)).isHeld;
  const isOutdated = (container: ReadonlyContainer): boolean => {
    const before = known.get(container.name);
    if (before?.image !== reportedImage(container.image ?? "")) return true;
    const ended = before.state?.terminated;
    if (ended && restartsAfter(container, spec.restartPolicy, ended.exitCode ?? 0)) return true;
    return (around.hasStaleVariables?.(container) ?? false) || (restartsForResize(container, before) && !isHeld());
  };
  const init = byName(status?.initContainerStatuses);
  const sidecars = (spec.initContainers ?? []).filter(
    (container) => isSidecar(container) && init.get(container.name)?.image !== reportedImage(container.image ?? ""),
  );
  return [...sidecars, ...spec.containers.filter(isOutdated)].map(({ name }) => name);
}

/** The status while these containers are down for an update. Used only if the pod would otherwise report ready. */
export function stoppingStatus(pod: ReadonlyPod, containers: readonly string[], nowMs: number): Status {
  const down = (items: readonly Item[] | undefined): Item[] =>
    (items ?? []).map((item) => (containers.includes(item.name) ? { ...item, ready: false, started: false } : item));
  const { initContainerStatuses } = pod.status ?? {};
  return withConditions(
    pod,
    {
      ...pod.status,
      containerStatuses: down(pod.status?.containerStatuses),
      ...defined({ initContainerStatuses: initContainerStatuses ? down(initContainerStatuses) : undefined }),
    },
    nowMs,
  );
}

/** The status once nothing prevents containers from starting. */
export function planPodStatus(pod: ReadonlyPod, around: Environment): PodPlan {
  const { spec, status = {} } = pod;
  const { nowMs } = around;
  const deadlineMs = deadlineOf(pod, nowMs);
  if (deadlineMs !== undefined && deadlineMs <= nowMs)
    return {
      status: endedStatus(pod, nowMs, {
        reason: "DeadlineExceeded",
        message: "Pod was active on the node longer than the specified deadline",
        exitCode: 137,
      }),
    };

  if (around.mountProblem !== undefined && !hasRun(status.containerStatuses ?? []))
    return { status: unmountedStatus(pod, nowMs), dueMs: deadlineMs };

  const resize = planResize(
    pod,
    byName([...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]),
    around.room ?? (() => undefined),
  );
  const init = stepInit(pod, around, resize);
  const main = init.isDone
    ? spec.containers.map((container) => stepMain(pod, container, around, resize))
    : spec.containers.map((container) => held(container, byName(status.containerStatuses).get(container.name), nowMs));
  const ephemeral = (spec.ephemeralContainers ?? []).map((container) =>
    stepContainer(container as ReadonlyContainer, byName(status.ephemeralContainerStatuses).get(container.name), {
      ...situationOf(pod, container as ReadonlyContainer, around, resize),
      // They are never restarted; one whose command is not plain runs until its pod ends.
      restarts: () => false,
      behaviour: { ...ENDLESS, ...scriptOf(container) },
    }),
  );
  const containerStatuses = main.map((step) => step.status);
  const phase = init.hasFailed ? "Failed" : phaseOf(status, containerStatuses);
  const isEnded = phase === "Succeeded" || phase === "Failed";
  // Sidecars stop with the other containers; init containers that never started keep their status.
  const initContainerStatuses = init.steps.map(({ status: item }) =>
    isEnded && item.state?.running ? stopped(item, nowMs) : item,
  );
  // The network is ready before the first image.
  const podIP = status.podIP ?? (spec.hostNetwork ? around.hostIP : around.podIP());
  const { nominatedNodeName: _, ...rest } = status;
  const next: Status = {
    ...rest,
    ...defined({ observedGeneration: pod.metadata.generation }),
    phase,
    ...omitZero({
      hostIP: around.hostIP,
      hostIPs: around.hostIP ? [{ ip: around.hostIP }] : undefined,
      podIP,
      podIPs: podIP ? [{ ip: podIP }] : undefined,
    }),
    startTime: status.startTime ?? formatTime(nowMs),
    ...omitEmpty({ initContainerStatuses }),
    containerStatuses,
    ...defined({ ephemeralContainerStatuses: ephemeral.length > 0 ? ephemeral.map((step) => step.status) : undefined }),
  };
  const dues = isEnded ? [] : [...init.steps, ...main, ...ephemeral].flatMap(({ dueMs }) => dueMs ?? []);
  if (deadlineMs !== undefined && !isEnded) dues.push(deadlineMs);
  return {
    status: withResize(withConditions(pod, next, nowMs), resize, nowMs),
    dueMs: dues.length > 0 ? Math.min(...dues) : undefined,
  };
}

function deadlineOf({ spec, status }: ReadonlyPod, nowMs: number): number | undefined {
  const { activeDeadlineSeconds: seconds } = spec;
  return seconds === undefined
    ? undefined
    : (status?.startTime === undefined ? nowMs : Date.parse(status.startTime)) + seconds * 1000;
}

function situationOf(
  pod: ReadonlyPod,
  container: ReadonlyContainer,
  around: Environment,
  resize: ResizePlan,
): ContainerSituation {
  const { metadata, spec, status } = pod;
  const before = byNameOne(status, container.name);
  return {
    uid: metadata.uid ?? "",
    about: `${metadata.name}_${metadata.namespace ?? ""}(${metadata.uid ?? ""})`,
    nowMs: around.nowMs,
    behaviour: behaviourOf(pod, container),
    restarts: (exitCode) => restartsAfter(container, spec.restartPolicy, exitCode),
    problem: around.problemOf?.(container),
    mustRestart:
      (around.hasStaleVariables?.(container) ?? false) || (!resize.isHeld && restartsForResize(container, before)),
    resources: resize.isHeld && before?.resources ? before.resources : undefined,
  };
}

/** The container's own restart rules take precedence, then its own policy, then that of the pod. */
function restartsAfter(
  { restartPolicy, restartPolicyRules }: ReadonlyContainer,
  ofPod: string | undefined,
  exitCode: number,
): boolean {
  const rule = restartPolicyRules?.find(
    ({ exitCodes }) =>
      exitCodes !== undefined && (exitCodes.values ?? []).includes(exitCode) === (exitCodes.operator === "In"),
  );
  if (rule?.action === "Restart") return true;
  const policy = restartPolicy ?? ofPod ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function byNameOne(status: Status | undefined, container: string): Item | undefined {
  return (
    status?.containerStatuses?.find(({ name }) => name === container) ??
    status?.initContainerStatuses?.find(({ name }) => name === container)
  );
}

const stepMain = (pod: ReadonlyPod, container: ReadonlyContainer, around: Environment, resize: ResizePlan): Step =>
  stepContainer(
    container,
    pod.status?.containerStatuses?.find(({ name }) => name === container.name),
    situationOf(pod, container, around, resize),
  );

interface InitPlan {
  readonly steps: readonly Step[];
  readonly isDone: boolean;
  /** An init container failed and is not retried, which fails the pod. */
  readonly hasFailed: boolean;
}

/**
 * Init containers run one after the other, each until it succeeds; sidecars among them keep running and do not delay
 * the next.
 */
function stepInit(pod: ReadonlyPod, around: Environment, resize: ResizePlan): InitPlan {
  const { spec, status } = pod;
  const containers = spec.initContainers ?? [];
  if (containers.length === 0) return { steps: [], isDone: true, hasFailed: false };
  const known = byName(status?.initContainerStatuses);
  // A pod with running containers has been initialized; init containers do not run again for a new image.
  const wasDone = hasRun(status?.containerStatuses ?? []);
  const steps: Step[] = [];
  let isDone = true;
  let hasFailed = false;
  for (const container of containers) {
    const before = known.get(container.name);
    if (!isDone) steps.push(held(container, before, around.nowMs));
    else if (wasDone && !isSidecar(container) && before) steps.push({ status: before });
    else {
      const situation = situationOf(pod, container, around, resize);
      const behaviour = initBehaviourOf(pod, container);
      const step = isSidecar(container)
        ? stepContainer(container, before, {
            ...situation,
            restarts: () => true,
            behaviour: { ...behaviour, runMs: undefined },
          })
        : stepContainer(container, before, {
            ...situation,
            restarts: (exitCode) => exitCode !== 0 && restartsAfter(container, spec.restartPolicy, exitCode),
            behaviour,
          });
      const finished = step.status.state?.terminated;
      const hasSucceeded = finished?.exitCode === 0;
      // kubelets report an init container as ready only after it has succeeded.
      const ready = isSidecar(container) ? step.status.ready : hasSucceeded;
      steps.push(step.status.ready === ready ? step : { ...step, status: { ...step.status, ready } });
      isDone = isSidecar(container) ? step.status.started === true : hasSucceeded;
      hasFailed = finished !== undefined && !hasSucceeded;
    }
  }
  return { steps, isDone: isDone || wasDone, hasFailed: hasFailed && !wasDone };
}

/** Waits for the init containers before it. */
function held(container: ReadonlyContainer, before: Item | undefined, nowMs: number): Step {
  return { status: waiting(container, before, { nowMs }, "PodInitializing") };
}

function phaseOf({ phase }: Status, containers: readonly Item[]): NonNullable<Status["phase"]> {
  if (containers.length > 0 && containers.every(({ state }) => state?.terminated))
    return containers.every(({ state }) => state?.terminated?.exitCode === 0) ? "Succeeded" : "Failed";
  return hasRun(containers) || phase === "Running" ? "Running" : "Pending";
}

const hasRun = (containers: readonly Item[]): boolean =>
  containers.some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated);

/** The status of a pod whose volumes are not mounted yet: its network is not ready either. */
function unmountedStatus(pod: ReadonlyPod, nowMs: number): Status {
  const { spec, status = {} } = pod;
  const reason = spec.initContainers?.length ? "PodInitializing" : "ContainerCreating";
  const wait = (containers: readonly ReadonlyContainer[], before: readonly Item[] | undefined): Item[] =>
    containers.map((container) => waiting(container, byName(before).get(container.name), { nowMs }, reason));
  const next: Status = {
    ...status,
    ...defined({ observedGeneration: pod.metadata.generation }),
    phase: "Pending",
    startTime: status.startTime ?? formatTime(nowMs),
    ...defined({
      initContainerStatuses: spec.initContainers?.length
        ? wait(spec.initContainers, status.initContainerStatuses)
        : undefined,
    }),
    containerStatuses: wait(spec.containers, status.containerStatuses),
  };
  return withConditions(pod, next, nowMs, false);
}

function stopped(item: Item, nowMs: number, exitCode = 0): Item {
  return item.state?.terminated
    ? item
    : { ...item, state: { terminated: terminatedOf(item, exitCode, nowMs) }, ready: false, started: false };
}

/** The status of a finished pod: all its containers have stopped. */
export function endedStatus(
  pod: ReadonlyPod,
  nowMs: number,
  why: { reason?: string; message?: string; exitCode: number },
): Status {
  const { status = {} } = pod;
  const { reason, message, exitCode } = why;
  const containerStatuses = pod.spec.containers.map((container) =>
    stopped(
      byNameOne(status, container.name) ?? waiting(container, undefined, { nowMs }, "ContainerCreating"),
      nowMs,
      exitCode,
    ),
  );
  const initContainerStatuses = status.initContainerStatuses?.map((item) => stopped(item, nowMs));
  const hasFailed = reason !== undefined || containerStatuses.some(({ state }) => state?.terminated?.exitCode !== 0);
  const cause = reason === undefined ? undefined : { reason, message };
  const next: Status = {
    ...status,
    phase: hasFailed ? "Failed" : "Succeeded",
    ...cause,
    startTime: status.startTime ?? formatTime(nowMs),
    containerStatuses,
    ...omitZero({ initContainerStatuses }),
  };
  return withConditions(pod, next, nowMs);
}

/** The status after these containers were stopped from outside. */
export function stoppedStatus(
  pod: ReadonlyPod,
  containers: readonly string[],
  nowMs: number,
  exitCode: number,
): Status {
  const { status = {} } = pod;
  const stop = (items: readonly Item[] | undefined): Item[] =>
    (items ?? []).map((item) =>
      containers.includes(item.name) && item.state?.running ? stopped(item, nowMs, exitCode) : item,
    );
  const { ephemeralContainerStatuses } = status;
  const next: Status = {
    ...status,
    containerStatuses: stop(status.containerStatuses),
    ...defined({
      ephemeralContainerStatuses: ephemeralContainerStatuses ? stop(ephemeralContainerStatuses) : undefined,
    }),
  };
  return status.phase === "Running" ? withConditions(pod, next, nowMs) : next;
}

/** Reports a pending resize as long as it is pending. */
function withResize(status: Status, { condition }: ResizePlan, nowMs: number): Status {
  const conditions = status.conditions ?? [];
  if (condition) return { ...status, conditions: mergeConditions(conditions, [condition], nowMs) };
  return conditions.some(({ type }) => type === "PodResizePending")
    ? { ...status, conditions: conditions.filter(({ type }) => type !== "PodResizePending") }
    : status;
}
