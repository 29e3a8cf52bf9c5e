/**
 * Readiness gates of OpenKruise: `KruisePodReady`, which any controller can set to false with a message, and the
 * condition `Ready` that follows from all gates.
 *
 * A controller that needs a pod unready adds its own message and removes it later; the gate becomes true when no
 * message is left. Messages are a JSON list in the condition. Pure: every function returns the changed pod, and the
 * same object if nothing changes, so a change is `after !== before`.
 */
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { compareText, formatTime, isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";

export const KRUISE_POD_READY = "KruisePodReady";

export interface NotReadyMessage {
  /** The author: `Lifecycle`, `ContainerRecreateRequest`. */
  userAgent: string;
  /** Why. */
  key: string;
}

export function hasReadinessGate({ spec }: ReadonlyPod, type: string): boolean {
  return spec?.readinessGates?.some(({ conditionType }) => conditionType === type) ?? false;
}

/** Replaces a condition if its status changes; otherwise it keeps its reason and its time. */
export function withCondition(pod: ReadonlyPod, condition: DeepReadonly<PodCondition>): ReadonlyPod {
  const before = podCondition(pod, condition.type);
  return before?.status === condition.status ? pod : replaceCondition(pod, condition);
}

function replaceCondition(pod: ReadonlyPod, condition: DeepReadonly<PodCondition>): ReadonlyPod {
  const conditions = pod.status?.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  return {
    ...pod,
    status: { ...pod.status, conditions: index < 0 ? [...conditions, condition] : conditions.with(index, condition) },
  };
}

/**
 * `Ready` becomes False at once with a gate: the kubelet would notice later, and traffic must stop first. Only the
 * kubelet sets it to True.
 */
export function withReadyFromGates(pod: ReadonlyPod): ReadonlyPod {
  if (!podCondition(pod, "Ready") || podCondition(pod, "ContainersReady")?.status !== "True") return pod;
  const closed = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = podCondition(pod, conditionType);
    if (!gate) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return gate.status === "True"
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (closed.length === 0) return pod;
  return withCondition(pod, {
    type: "Ready",
    status: "False",
    reason: "ReadinessGatesNotReady",
    message: closed.join(", "),
  });
}

/** Adds this message and sets the gate to false. A pod without the gate is returned unchanged. */
export function addNotReadyMessage(pod: ReadonlyPod, message: NotReadyMessage, nowMs: number): ReadonlyPod {
  if (!hasReadinessGate(pod, KRUISE_POD_READY)) return pod;
  const messages = readMessages(pod);
  if (messages.some((item) => isSame(item, message))) return pod;
  const closed = {
    type: KRUISE_POD_READY,
    status: "False",
    message: formatMessages([...messages, message]),
    lastTransitionTime: formatTime(nowMs),
  };
  return withReadyFromGates(replaceCondition(pod, closed));
}

/** Removes the message; the gate becomes true if it was the last one. */
export function removeNotReadyMessage(pod: ReadonlyPod, message: NotReadyMessage, nowMs: number): ReadonlyPod {
  const condition = podCondition(pod, KRUISE_POD_READY);
  if (!condition || !hasReadinessGate(pod, KRUISE_POD_READY)) return pod;
  const messages = readMessages(pod);
  const left = messages.filter((item) => !isSame(item, message));
  if (left.length === messages.length) return pod;
  return replaceCondition(pod, {
    ...condition,
    status: left.length === 0 ? "True" : condition.status,
    message: formatMessages(left),
    lastTransitionTime: formatTime(nowMs),
  });
}

const isSame = (a: NotReadyMessage, b: NotReadyMessage): boolean => a.userAgent === b.userAgent && a.key === b.key;

function formatMessages(messages: readonly NotReadyMessage[]): string {
  return JSON.stringify(
    messages
      .toSorted((a, b) => compareText(a.userAgent, b.userAgent) || compareText(a.key, b.key))
      .map(({ userAgent, key }) => ({ userAgent, key })),
  );
}

/** Text of other writers counts as no messages. */
function readMessages(pod: ReadonlyPod): NotReadyMessage[] {
  const list = parseList(podCondition(pod, KRUISE_POD_READY)?.message ?? "");
  return list.filter(isObject).map(({ userAgent, key }) => ({
    userAgent: typeof userAgent === "string" ? userAgent : "",
    key: typeof key === "string" ? key : "",
  }));
}

function parseList(text: string): unknown[] {
  if (!text.startsWith("[")) return [];
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
