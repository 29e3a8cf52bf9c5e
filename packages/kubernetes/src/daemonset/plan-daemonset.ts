/**
 * The decisions of a DaemonSet: a pod on every node that should have one (`planPlaces`), and the next step of an update
 * (`planUpdate`), within maxUnavailable or maxSurge. Pure; `daemonset-controller.ts` executes them, places first.
 */
import { scaledValue } from "@flotilla/apimachinery";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { isAvailable, isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { isUpdated } from "./daemon-pod.ts";
import type { ReadonlyDaemonSet } from "./daemon-pod.ts";
import type { DaemonView, NodeView } from "./node-fitness.ts";

/** Pods created or deleted per reconcile, as in upstream. */
const MAX_PER_PASS = 250;

export interface DaemonPlan {
  /** Nodes that get a pod. */
  create: readonly string[];
  remove: readonly ReadonlyPod[];
  events: readonly RecordedEvent[];
  /** Time until a failed pod may be replaced. */
  againInMs?: number;
}

/**
 * How long a failed pod on this node must stay before it is replaced; a call that returns 0 counts as a replacement.
 */
export type FailureWait = (node: string) => number;

const limited = (plan: DaemonPlan): DaemonPlan => ({
  ...plan,
  create: plan.create.slice(0, MAX_PER_PASS),
  remove: plan.remove.slice(0, MAX_PER_PASS),
});
const isLive = ({ metadata }: ReadonlyPod): boolean => !metadata.deletionTimestamp;

export function planPlaces(view: DaemonView, hash: string, failureWaitMs: FailureWait): DaemonPlan {
  const create: string[] = [];
  const remove = view.lost.filter(isLive);
  const events: RecordedEvent[] = [];
  let againInMs: number | undefined;
  const surges = surgeOf(view.set, 1) > 0;
  for (const node of view.nodes) {
    if (!node.mayStay) {
      remove.push(...node.pods.filter(isLive));
      continue;
    }
    if (node.shouldRun && node.pods.length === 0) create.push(node.name);
    const running: ReadonlyPod[] = [];
    for (const pod of node.pods.filter(isLive)) {
      const { phase } = pod.status ?? {};
      const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
      if (phase === "Failed") {
        // A kubelet that rejects a pod would reject the next one too.
        const waitMs = failureWaitMs(node.name);
        if (waitMs > 0) {
          againInMs = Math.min(againInMs ?? waitMs, waitMs);
          continue;
        }
        events.push({
          type: "Warning",
          reason: "FailedDaemonPod",
          message: `Found failed daemon pod ${name} on node ${node.name}, will try to kill it`,
        });
        remove.push(pod);
      } else if (phase === "Succeeded") {
        events.push({
          type: "Normal",
          reason: "SucceededDaemonPod",
          message: `Found succeeded daemon pod ${name} on node ${node.name}, will try to delete it`,
        });
        remove.push(pod);
      } else running.push(pod);
    }
    if (!surges) remove.push(...running.slice(1));
    else if (running.length === 0 && node.shouldRun && node.pods.length > 0) create.push(node.name);
    else remove.push(...surplusWhileSurging(view, running, hash));
  }
  return limited({ create, remove, events, againInMs });
}

/** One old and one new pod may run side by side while the old one is available and the new one is not. */
function surplusWhileSurging({ set, nowMs }: DaemonView, running: readonly ReadonlyPod[], hash: string): ReadonlyPod[] {
  if (running.length <= 1) return [];
  const isNew = ({ metadata }: ReadonlyPod): boolean => metadata.labels?.["controller-revision-hash"] === hash;
  const newest = running.find(isNew);
  const old = running.find((pod) => !isNew(pod));
  const others = running.filter((pod) => pod !== newest && pod !== old);
  const oldMayGo = newest && old && (!isReady(old) || isAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs));
  return oldMayGo ? [...others, old] : others;
}

/** How many pods may be unavailable, or run in addition, during an update. */
function limitsOf(set: ReadonlyDaemonSet, desired: number): { maxUnavailable: number; maxSurge: number } {
  const { rollingUpdate } = set.spec.updateStrategy ?? {};
  const maxSurge = surgeOf(set, desired);
  const maxUnavailable = scaledValue(rollingUpdate?.maxUnavailable ?? 1, desired, { roundUp: true });
  // With neither, the update would never progress.
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

function surgeOf({ spec }: ReadonlyDaemonSet, desired: number): number {
  const { type = "RollingUpdate", rollingUpdate } = spec.updateStrategy ?? {};
  return type === "RollingUpdate" ? scaledValue(rollingUpdate?.maxSurge ?? 0, desired, { roundUp: true }) : 0;
}

const NOTHING: DaemonPlan = { create: [], remove: [], events: [] };

export function planUpdate(view: DaemonView, hash: string): DaemonPlan {
  if ((view.set.spec.updateStrategy?.type ?? "RollingUpdate") !== "RollingUpdate") return NOTHING;
  const desired = view.nodes.filter(({ shouldRun }) => shouldRun).length;
  const { maxUnavailable, maxSurge } = limitsOf(view.set, desired);
  // Nodes that have no pod and need none do not count.
  const places = view.nodes
    .filter(({ shouldRun, pods }) => shouldRun || pods.length > 0)
    .map((node) => ({ node, ...versionsOn(view, node, hash) }));
  return limited(maxSurge > 0 ? surge(view, places, maxSurge, desired) : replace(view, places, maxUnavailable));
}

interface Place {
  node: NodeView;
  updated?: ReadonlyPod;
  old?: ReadonlyPod;
  /** More pods than an update needs; `planPlaces` deletes the excess. */
  isCrowded: boolean;
}

function versionsOn({ set }: DaemonView, { pods }: NodeView, hash: string): Omit<Place, "node"> {
  const live = pods.filter(isLive);
  const updated = live.filter((pod) => isUpdated(set, pod, hash));
  const old = live.filter((pod) => !isUpdated(set, pod, hash));
  return {
    updated: updated[0],
    old: old[0],
    isCrowded: updated.length > 1 || old.length > 1,
  };
}

/** Deletes old pods; unavailable ones do not count against the budget. */
function replace({ set, nowMs }: DaemonView, places: readonly Place[], maxUnavailable: number): DaemonPlan {
  const works = (pod: ReadonlyPod): boolean => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
  const broken: ReadonlyPod[] = [];
  const candidates: ReadonlyPod[] = [];
  let unavailable = 0;
  for (const { updated, old, isCrowded } of places) {
    if (isCrowded || (updated === undefined) === (old === undefined)) unavailable++;
    else if (updated) unavailable += works(updated) ? 0 : 1;
    else if (old && works(old)) candidates.push(old);
    else if (old) {
      broken.push(old);
      unavailable++;
    }
  }
  return { ...NOTHING, remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
}

/** Starts new pods beside the old ones, which are deleted when the new ones are available. */
function surge({ set, nowMs }: DaemonView, places: readonly Place[], maxSurge: number, desired: number): DaemonPlan {
  const works = (pod: ReadonlyPod): boolean => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
  const remove: ReadonlyPod[] = [];
  const unwanted: ReadonlyPod[] = [];
  const atOnce: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const { node, updated, old, isCrowded } of places) {
    if (isCrowded) {
      surging++;
      continue;
    }
    const serving = old ?? updated;
    if (serving && works(serving)) available++;
    if (!old) continue;
    if (updated) {
      if (works(updated)) remove.push(old);
      else surging++;
    } else if (node.shouldRun) (works(old) ? candidates : atOnce).push(node.name);
    else (works(old) ? unwanted : remove).push(old);
  }
  remove.push(...unwanted.slice(0, Math.max(0, available - desired)));
  return { ...NOTHING, create: [...atOnce, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove };
}
