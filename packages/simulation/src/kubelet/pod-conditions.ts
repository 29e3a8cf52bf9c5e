/** The conditions that a kubelet maintains on a pod. Conditions of other writers are preserved. Pure. */
import type { ContainerStatus, PodCondition, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { formatTime, omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isSidecar } from "@flotilla/kubernetes";

type Status = DeepReadonly<PodStatus>;
type Condition = DeepReadonly<PodCondition>;
type ContainerState = DeepReadonly<ContainerStatus>;

/** `isPrepared`: the volumes and the network of the pod are ready. */
export function withConditions({ spec }: DeepReadonly<Pod>, status: Status, nowMs: number, isPrepared = true): Status {
  const { containerStatuses = [], initContainerStatuses = [], phase } = status;
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  // Sidecars of a finished pod have stopped, but were initialized.
  const isOver = phase === "Succeeded" || phase === "Failed";
  const isInitialized = ({ name, state, started }: ContainerState): boolean =>
    sidecars.has(name) ? isOver || started === true : state?.terminated?.exitCode === 0;
  const uninitialized =
    phase === "Succeeded" ? [] : initContainerStatuses.filter((item) => !isInitialized(item)).map(({ name }) => name);
  const unready = [
    ...initContainerStatuses.filter(({ name, ready }) => sidecars.has(name) && !ready),
    ...containerStatuses.filter(({ ready }) => !ready),
  ].map(({ name }) => name);
  const containers = containersCondition(phase, unready);
  const ours: Condition[] = [
    { type: "PodReadyToStartContainers", status: isPrepared ? "True" : "False" },
    uninitialized.length > 0
      ? {
          type: "Initialized",
          status: "False",
          reason: "ContainersNotInitialized",
          message: `containers with incomplete status: [${uninitialized.join(" ")}]`,
        }
      : { type: "Initialized", status: "True" },
    containers ? { type: "Ready", status: "False", ...containers } : readyCondition(spec, status),
    containers
      ? { type: "ContainersReady", status: "False", ...containers }
      : { type: "ContainersReady", status: "True" },
    { type: "PodScheduled", status: "True" },
  ];
  return { ...status, conditions: mergeConditions(status.conditions ?? [], ours, nowMs) };
}

/** Why not all containers are ready; undefined when they are. */
function containersCondition(
  phase: Status["phase"],
  unready: readonly string[],
): { reason: string; message?: string } | undefined {
  if (phase === "Succeeded") return { reason: "PodCompleted" };
  if (phase === "Failed") return { reason: "PodFailed" };
  return unready.length === 0
    ? undefined
    : { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

/** Every readiness gate must be true, too. */
function readyCondition({ readinessGates = [] }: DeepReadonly<Pod>["spec"], { conditions }: Status): Condition {
  const closed = readinessGates.flatMap(({ conditionType }) => {
    const gate = conditions?.find(({ type }) => type === conditionType);
    if (gate?.status === "True") return [];
    return gate
      ? [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
      : [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
  });
  return closed.length === 0
    ? { type: "Ready", status: "True" }
    : { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: closed.join(", ") };
}

/**
 * Merges `ours` into the existing conditions in place. Times change only with the status; an unchanged condition keeps
 * its object identity.
 */
export function mergeConditions(old: readonly Condition[], ours: readonly Condition[], nowMs: number): Condition[] {
  const now = formatTime(nowMs);
  const written = new Map(ours.map((condition) => [condition.type, condition]));
  const kept = old.map((before) => merged(before, written.get(before.type), now));
  const present = new Set(old.map(({ type }) => type));
  return [
    ...kept,
    ...ours.filter(({ type }) => !present.has(type)).map((condition) => ({ ...condition, lastTransitionTime: now })),
  ];
}

function merged(before: Condition, after: Condition | undefined, now: string): Condition {
  if (!after) return before;
  if (before.status !== after.status) return { ...after, lastTransitionTime: now };
  if (before.reason === after.reason && before.message === after.message) return before;
  return { ...after, ...omitZero({ lastTransitionTime: before.lastTransitionTime }) };
}
