/**
 * The lifecycle state of a pod of an OpenKruise workload, in the label `lifecycle.apps.kruise.io/state`:
 *
 * ```text
 * PreparingNormal -> Normal -> PreparingUpdate -> Updating -> Updated -> Normal
 *        ^                \--> PreparingDelete -> deleted
 *        \__________________________/ the deletion is no longer wanted
 * ```
 *
 * Users block a pod in a Preparing state, or in Updated, with hooks: labels or finalizers that they remove or restore
 * when they are done. States other than Normal make a pod unavailable. A workload controller calls `nextState` for
 * every pod in every reconcile, and `enterState` to make a pod prepare. Pure: a step returns the changed pod, or the
 * same object if nothing changes.
 */
import { formatTime, omitEmpty } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { addNotReadyMessage, removeNotReadyMessage } from "../pod/pod-ready.ts";

export const LIFECYCLE_STATE_LABEL = "lifecycle.apps.kruise.io/state";
export const LIFECYCLE_TIMESTAMP_ANNOTATION = "lifecycle.apps.kruise.io/timestamp";

export type LifecycleState =
  | "PreparingNormal"
  | "Normal"
  | "PreparingUpdate"
  | "Updating"
  | "Updated"
  | "PreparingDelete";

export interface LifecycleHook {
  readonly labelsHandler?: Readonly<Record<string, string>>;
  readonly finalizersHandler?: readonly string[];
  readonly markPodNotReady?: boolean;
}
export interface Lifecycle {
  readonly preDelete?: LifecycleHook;
  readonly inPlaceUpdate?: LifecycleHook;
  readonly preNormal?: LifecycleHook;
}

/** The empty string for a pod without one. */
export function lifecycleState({ metadata }: ReadonlyPod): string {
  return metadata.labels?.[LIFECYCLE_STATE_LABEL] ?? "";
}

/** Whether the pod has any handler of the hook. */
export function isHooked(hook: LifecycleHook | undefined, { metadata }: ReadonlyPod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler?.some((finalizer) => metadata.finalizers?.includes(finalizer)) ?? false) ||
    Object.entries(hook.labelsHandler ?? {}).some(([key, value]) => (metadata.labels?.[key] ?? "") === value)
  );
}

/** Whether the pod has every handler of the hook; false without a hook. */
export function isAllHooked(hook: LifecycleHook | undefined, { metadata }: ReadonlyPod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).every((finalizer) => metadata.finalizers?.includes(finalizer)) &&
    Object.entries(hook.labelsHandler ?? {}).every(([key, value]) => (metadata.labels?.[key] ?? "") === value)
  );
}

/** Whether a hook makes pods unready; then a started deletion is not reverted. */
export function marksPodsNotReady(lifecycle: Lifecycle | undefined): boolean {
  return (lifecycle?.preDelete?.markPodNotReady ?? false) || (lifecycle?.inPlaceUpdate?.markPodNotReady ?? false);
}

/** The pod in a state, with the time at which it entered it. */
export function withLifecycleState(pod: ReadonlyPod, state: LifecycleState, nowMs: number): ReadonlyPod {
  const labels = { ...pod.metadata.labels, [LIFECYCLE_STATE_LABEL]: state };
  const annotations = { ...pod.metadata.annotations, [LIFECYCLE_TIMESTAMP_ANNOTATION]: formatTime(nowMs) };
  return { ...pod, metadata: { ...pod.metadata, labels, annotations } };
}

const PRE_DELETE = { userAgent: "Lifecycle", key: "preDeleteHook" };
const PRE_UPDATE = { userAgent: "Lifecycle", key: "preUpdateHook" };

/** Moves the pod to a state. With `markPodNotReady` it also becomes unready, or ready again. */
export function enterState(
  pod: ReadonlyPod,
  state: LifecycleState,
  markPodNotReady: boolean,
  nowMs: number,
): ReadonlyPod {
  const marked = markPodNotReady ? withTraffic(pod, state, nowMs) : pod;
  return lifecycleState(pod) === state ? marked : withLifecycleState(marked, state, nowMs);
}

function withTraffic(pod: ReadonlyPod, state: LifecycleState, nowMs: number): ReadonlyPod {
  if (state === "PreparingDelete") return addNotReadyMessage(pod, PRE_DELETE, nowMs);
  if (state === "PreparingUpdate") return addNotReadyMessage(pod, PRE_UPDATE, nowMs);
  return state === "Updated" ? removeNotReadyMessage(pod, PRE_UPDATE, nowMs) : pod;
}

/**
 * Prepares the pod for another update directly after one: restores the handlers that the user removed for the previous
 * one.
 */
export function prepareUpdateAgain(pod: ReadonlyPod, hook: LifecycleHook | undefined, nowMs: number): ReadonlyPod {
  if (!hook) return pod;
  const entered = enterState(pod, "PreparingUpdate", hook.markPodNotReady ?? false, nowMs);
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), ...(hook.finalizersHandler ?? [])])];
  return {
    ...entered,
    metadata: {
      ...entered.metadata,
      labels: { ...entered.metadata.labels, ...hook.labelsHandler },
      ...omitEmpty({ finalizers }),
    },
  };
}

export interface LifecycleFacts {
  lifecycle: Lifecycle | undefined;
  /**
   * Without a preNormal hook a pod becomes Normal when this is true. CloneSet waits for a node; other kinds do not
   * wait.
   */
  isPlaced: boolean;
  /** The pod has its target revision. */
  isUpdated: boolean;
  /** Whether the last in-place update is complete; called only if needed. */
  isComplete(): boolean;
}

/** The next automatic state, or undefined if the pod keeps its state. */
export function nextState(
  pod: ReadonlyPod,
  { lifecycle, isPlaced, isUpdated, isComplete }: LifecycleFacts,
): LifecycleState | undefined {
  const hook = lifecycle?.inPlaceUpdate;
  // A lifecycle without this hook has no handlers, and upstream treats them as missing.
  const afterUpdate = (): LifecycleState => (lifecycle && !isAllHooked(hook, pod) ? "Updated" : "Normal");
  switch (lifecycleState(pod)) {
    case "PreparingNormal":
      return (lifecycle?.preNormal ? isAllHooked(lifecycle.preNormal, pod) : isPlaced) ? "Normal" : undefined;
    case "PreparingUpdate":
      // The template was reverted while the pod waited for its hook: nothing is left to update.
      return isUpdated ? afterUpdate() : undefined;
    case "Updating":
      return isComplete() ? afterUpdate() : undefined;
    case "Updated":
      return !hook || isAllHooked(hook, pod) ? "Normal" : undefined;
    default:
      return undefined;
  }
}
