/**
 * Where a pod stands in its life with a workload of OpenKruise, written in the label `lifecycle.apps.kruise.io/state`:
 *
 * ```text
 * PreparingNormal -> Normal -> PreparingUpdate -> Updating -> Updated -> Normal
 *        ^                \--> PreparingDelete -> deleted
 *        \__________________________/ the deletion is no longer wanted
 * ```
 *
 * Users hold a pod in a Preparing state, or in Updated, with hooks: labels or finalizers that they take off, or put
 * back, when they are done. States other than Normal make a pod unavailable. A kind asks `nextState` for every pod in
 * every pass, and `enterState` when it wants a pod to prepare. Pure: a step is the pod after it, the very same when
 * nothing changes.
 */
import { formatTime } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { addNotReadyMessage, removeNotReadyMessage } from "../pod-ready.ts";

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

/** Some handler of the hook is on the pod. */
export function isHooked(hook: LifecycleHook | undefined, { metadata }: ReadonlyPod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler?.some((finalizer) => metadata.finalizers?.includes(finalizer)) ?? false) ||
    Object.entries(hook.labelsHandler ?? {}).some(([key, value]) => (metadata.labels?.[key] ?? "") === value)
  );
}

/** Every handler of the hook is on the pod; false without a hook. */
export function isAllHooked(hook: LifecycleHook | undefined, { metadata }: ReadonlyPod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).every((finalizer) => metadata.finalizers?.includes(finalizer)) &&
    Object.entries(hook.labelsHandler ?? {}).every(([key, value]) => (metadata.labels?.[key] ?? "") === value)
  );
}

/** Some hook takes pods out of traffic; then a deletion that has begun is not taken back. */
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

/** The pod enters a state. With `markPodNotReady` it also leaves traffic, or comes back to it. */
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
 * The pod prepares for another update straight after one: the handlers that the user took off for the last are put
 * back.
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
      ...(finalizers.length > 0 && { finalizers }),
    },
  };
}

export interface LifecycleFacts {
  lifecycle: Lifecycle | undefined;
  /**
   * Without a preNormal hook a pod is Normal when this holds. CloneSet waits for a node; other kinds wait for nothing.
   */
  isPlaced: boolean;
  /** The pod has the revision that it should have. */
  isUpdated: boolean;
  /** The last in-place update is complete; asked only when it matters. */
  isComplete(): boolean;
}

/** The state that follows by itself, or undefined while the pod stays in its own. */
export function nextState(
  pod: ReadonlyPod,
  { lifecycle, isPlaced, isUpdated, isComplete }: LifecycleFacts,
): LifecycleState | undefined {
  const hook = lifecycle?.inPlaceUpdate;
  // A lifecycle without this hook has no handlers that could be there, so upstream takes them for missing.
  const afterUpdate = (): LifecycleState => (lifecycle && !isAllHooked(hook, pod) ? "Updated" : "Normal");
  switch (lifecycleState(pod)) {
    case "PreparingNormal":
      return (lifecycle?.preNormal ? isAllHooked(lifecycle.preNormal, pod) : isPlaced) ? "Normal" : undefined;
    case "PreparingUpdate":
      // The template came back while the pod waited for its hook: there is nothing left to update.
      return isUpdated ? afterUpdate() : undefined;
    case "Updating":
      return isComplete() ? afterUpdate() : undefined;
    case "Updated":
      return !hook || isAllHooked(hook, pod) ? "Normal" : undefined;
    default:
      return undefined;
  }
}
