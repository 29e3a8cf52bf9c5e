/**
 * Advances one container of a pod by one step: returns its new status and the time of the next step. The status holds
 * all the state (start and end times, restart counts), so a new process continues where the last one stopped.
 *
 * Pure. A container in its desired state keeps its status object, so a converged pod costs no write.
 */
import type { Container, ContainerStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Behaviour } from "./behaviour.ts";
import { imageIdOf, isBroken, reportedImage, sha256 } from "./images.ts";

type Status = DeepReadonly<ContainerStatus>;
type Terminated = NonNullable<NonNullable<Status["state"]>["terminated"]>;
type ReadonlyContainer = DeepReadonly<Container>;

export interface ContainerSituation {
  readonly uid: string;
  /** `name_namespace(uid)`, as in kubelet messages. */
  readonly about: string;
  readonly nowMs: number;
  readonly behaviour: Behaviour;
  /** Whether the container is restarted after this exit code. */
  restarts(exitCode: number): boolean;
  /** Why the container cannot be created: a reference is missing. */
  readonly problem: string | undefined;
  /** The container must restart although its image is unchanged. */
  readonly mustRestart: boolean;
  /** The granted resources, where they do not match the spec yet. */
  readonly resources?: ReadonlyContainer["resources"] | undefined;
}

export interface Step {
  readonly status: Status;
  /** The time of the next change that needs no event. */
  readonly dueMs?: number;
}

/**
 * As in kubelets: the second restart waits ten seconds, and every further restart twice as long, up to five minutes.
 */
const FIRST_BACK_OFF_MS = 10_000;
const LAST_BACK_OFF_MS = 300_000;
/** A container that ran this long is not in a crash loop. */
const BACK_OFF_RESET_MS = 600_000;

function backOffMs(restartCount: number): number {
  return restartCount === 0 ? 0 : Math.min(LAST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(restartCount - 1, 10));
}

export function stepContainer(
  container: ReadonlyContainer,
  before: Status | undefined,
  situation: ContainerSituation,
): Step {
  const image = reportedImage(container.image ?? "");
  const isSame = before?.image === image && !situation.mustRestart;
  if (isSame && before.state?.running) return run(before, container, situation);
  // One that ends by itself is restarted at once, or waits: this one was stopped from outside.
  if (isSame && before.state?.terminated && !situation.restarts(before.state.terminated.exitCode ?? 0))
    return { status: before };
  if (situation.behaviour.fault === "image-pull-error" || isBroken(container.image ?? ""))
    return {
      status: waiting(
        container,
        before,
        situation,
        "ImagePullBackOff",
        `Back-off pulling image "${container.image ?? ""}"`,
      ),
    };
  if (situation.problem !== undefined)
    return { status: waiting(container, before, situation, "CreateContainerConfigError", situation.problem) };
  if (isSame && before.state?.waiting?.reason === "CrashLoopBackOff") {
    const dueMs = timeOf(before.lastState?.terminated?.finishedAt) + backOffMs(before.restartCount);
    if (situation.nowMs < dueMs) return { status: before, dueMs };
  }
  return start(container, before, situation);
}

/** Ends the existing container, if any, and starts a new one. */
function start(container: ReadonlyContainer, before: Status | undefined, situation: ContainerSituation): Step {
  const { uid, nowMs } = situation;
  const lastState = before && endOf(before, nowMs);
  const restartCount = before && lastState ? before.restartCount + 1 : 0;
  const { name, image = "" } = container;
  const status: Status = {
    name,
    state: { running: { startedAt: formatTime(nowMs) } },
    lastState: lastState ? { terminated: lastState } : undefined,
    ready: false,
    restartCount,
    image: reportedImage(image),
    imageID: imageIdOf(image),
    containerID: containerId(uid, name, restartCount),
    started: true,
    ...granted(container, situation),
  };
  return run(status, container, situation);
}

/** Whether a running container has been granted these resources. */
export function holds({ resources: held }: Status, wanted: ReadonlyContainer["resources"]): boolean {
  return equalJson(held?.requests ?? {}, wanted?.requests ?? {}) && equalJson(held?.limits ?? {}, wanted?.limits ?? {});
}

/** The granted resources; a node that supports in-place resize reports them in the status. */
function granted(
  { resources = {} }: ReadonlyContainer,
  { resources: held }: ContainerSituation,
): Pick<Status, "resources" | "allocatedResources"> {
  const given = held ?? resources;
  const { claims: _, ...amounts } = given;
  return { allocatedResources: given.requests, resources: amounts };
}

function run(running: Status, container: ReadonlyContainer, situation: ContainerSituation): Step {
  const { behaviour, nowMs } = situation;
  const endMs = behaviour.runMs === undefined ? undefined : timeOf(running.state?.running?.startedAt) + behaviour.runMs;
  if (endMs !== undefined && endMs <= nowMs) return end(running, container, situation, behaviour.exitCode);
  const ready = behaviour.fault !== "never-ready";
  const isRight =
    running.ready === ready && running.started && holds(running, situation.resources ?? container.resources);
  const status = isRight ? running : { ...running, ready, started: true, ...granted(container, situation) };
  return endMs === undefined ? { status } : { status, dueMs: endMs };
}

function end(running: Status, container: ReadonlyContainer, situation: ContainerSituation, exitCode: number): Step {
  const { nowMs, about } = situation;
  const terminated = terminatedOf(running, exitCode, nowMs);
  if (!situation.restarts(exitCode))
    return { status: { ...running, state: { terminated }, ready: false, started: false } };
  const isForgiven = nowMs - timeOf(terminated.startedAt) >= BACK_OFF_RESET_MS;
  const delayMs = isForgiven ? 0 : backOffMs(running.restartCount);
  const stopped: Status = { ...running, state: { terminated }, ready: false, started: false };
  if (delayMs === 0) return start(container, stopped, situation);
  const message = `back-off ${goDuration(delayMs)} restarting failed container=${container.name} pod=${about}`;
  return {
    status: {
      ...running,
      state: { waiting: { reason: "CrashLoopBackOff", message } },
      lastState: { terminated },
      ready: false,
      started: false,
    },
    dueMs: nowMs + delayMs,
  };
}

/** `10s`, `1m20s`, `5m0s`. */
function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

export function waiting(
  container: ReadonlyContainer,
  before: Status | undefined,
  { nowMs }: Pick<ContainerSituation, "nowMs">,
  reason: string,
  message?: string,
): Status {
  const image = reportedImage(container.image ?? "");
  const state = { waiting: { reason, message } };
  if (before?.image === image && before.state?.waiting?.reason === reason && before.state.waiting.message === message)
    return before;
  const lastState = before && endOf(before, nowMs);
  return {
    name: container.name,
    state,
    lastState: lastState ? { terminated: lastState } : undefined,
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image,
    imageID: "",
    started: false,
  };
}

/** How the last run of a container ended, or ends now; undefined if it never ran. */
function endOf(status: Status, nowMs: number): Terminated | undefined {
  if (status.state?.running) return terminatedOf(status, 0, nowMs);
  return status.state?.terminated ?? status.lastState?.terminated;
}

export function terminatedOf({ state, containerID }: Status, exitCode: number, nowMs: number): Terminated {
  const startedAt = state?.running?.startedAt;
  return {
    exitCode,
    reason: exitCode === 0 ? "Completed" : "Error",
    startedAt: startedAt || undefined,
    finishedAt: formatTime(nowMs),
    containerID: containerID || undefined,
  };
}

const containerId = (uid: string, name: string, restartCount: number): string =>
  `containerd://${sha256(`${uid}/${name}/${restartCount}`)}`;
export const timeOf = (time: string | undefined): number => (time === undefined ? 0 : Date.parse(time));
