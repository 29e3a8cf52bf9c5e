/**
 * Maintains one pod on every node that should have one, and none elsewhere: plans the pods that an Advanced DaemonSet
 * creates and deletes, except for updates. Deletes failed pods, pods in PreparingDelete, and duplicates on a node.
 *
 * Reads: the view of `nodes.ts`. Writes nothing; `daemonset-controller.ts` executes the plan.
 */
import { defined } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { isReady, REVISION_LABEL } from "@flotilla/kubernetes";
import type { FailureWait, NodeView, ReadonlyPod } from "@flotilla/kubernetes";
import { enterState, isHooked } from "../lifecycle/lifecycle.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { burstOf, isRolling, nodesToFill, partitionOf, surges } from "./limits.ts";
import { isLive, isPreparingDelete, versionsOn, works } from "./nodes.ts";
import type { DaemonView, ReadonlyDaemonSet } from "./nodes.ts";

export interface DaemonPlan {
  /** Nodes that get a pod. */
  create: readonly string[];
  remove: readonly ReadonlyPod[];
  /** Pods that wait for their preDelete hook. */
  prepare: readonly PodStep[];
  events: readonly RecordedEvent[];
  /** Time until a failed pod may be replaced. */
  againInMs?: number;
}

export const changesNothing = ({ create, remove, prepare }: DaemonPlan): boolean =>
  create.length + remove.length + prepare.length === 0;

export function planManage(view: DaemonView, failureWaitMs: FailureWait): DaemonPlan {
  const { set, nodes, lost } = view;
  const found: OnNode = { create: [], remove: [], events: [], againInMs: undefined };
  for (const node of nodes) lookAt(view, node, failureWaitMs, found);
  const partition = isRolling(set) ? partitionOf(set) : 0;
  const create =
    partition === 0
      ? found.create
      : nodesToFill(found.create, {
          updated: countUpdated(view),
          desired: nodes.filter(({ shouldRun }) => shouldRun).length,
          partition,
          isPartitioned: set.spec.scaleStrategy?.partitionedScaling ?? false,
        });
  return {
    ...planSync(set, create, [...found.remove, ...lost.filter(isLive)], view.nowMs),
    events: found.events,
    ...defined({ againInMs: found.againInMs }),
  };
}

/** Deletions and creations, within the burst limit. A pod with a handler of the preDelete hook prepares first. */
export function planSync(
  set: ReadonlyDaemonSet,
  create: readonly string[],
  remove: readonly ReadonlyPod[],
  nowMs: number,
): DaemonPlan {
  const hook = set.spec.lifecycle?.preDelete;
  const steps = remove
    .filter((pod) => isHooked(hook, pod))
    .map((pod) => ({ pod, after: enterState(pod, "PreparingDelete", hook?.markPodNotReady ?? false, nowMs) }));
  const burst = burstOf(set);
  return {
    create: create.slice(0, burst),
    remove: remove.filter((pod) => !isHooked(hook, pod)).slice(0, burst),
    prepare: steps.filter(({ pod, after }) => after !== pod),
    events: [],
  };
}

const countUpdated = (view: DaemonView): number =>
  view.nodes.filter((node) => versionsOn(view, node).updated !== undefined).length;

interface OnNode {
  create: string[];
  remove: ReadonlyPod[];
  events: RecordedEvent[];
  againInMs: number | undefined;
}

function lookAt(view: DaemonView, node: NodeView, failureWaitMs: FailureWait, found: OnNode): void {
  if (node.shouldRun && node.pods.length === 0) found.create.push(node.name);
  else if (!node.mayStay) found.remove.push(...node.pods.filter(isLive));
  else thinOut(view, node, stayingPods(node, failureWaitMs, found), found);
}

/** The pods that may stay; failed and leaving ones may not. */
function stayingPods({ name, pods }: NodeView, failureWaitMs: FailureWait, found: OnNode): ReadonlyPod[] {
  return pods.filter((pod) => {
    if (!isLive(pod)) return false;
    if (pod.status?.phase !== "Failed") {
      if (isPreparingDelete(pod)) found.remove.push(pod);
      return !isPreparingDelete(pod);
    }
    // A kubelet that rejects a pod would reject the next one too.
    const waitMs = failureWaitMs(name);
    if (waitMs > 0) found.againInMs = Math.min(found.againInMs ?? waitMs, waitMs);
    else {
      found.events.push({
        type: "Warning",
        reason: "FailedDaemonPod",
        message: `Found failed daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${name}, will try to kill it`,
      });
      found.remove.push(pod);
    }
    return false;
  });
}

/** One pod stays; during a surge, one old and one new pod may run side by side until the new one is available. */
function thinOut(view: DaemonView, node: NodeView, running: readonly ReadonlyPod[], found: OnNode): void {
  if (!surges(view.set)) {
    found.remove.push(...running.slice(1));
    return;
  }
  if (running.length === 0 && node.shouldRun) found.create.push(node.name);
  if (running.length <= 1) return;
  const isNew = ({ metadata }: ReadonlyPod): boolean => metadata.labels?.[REVISION_LABEL] === view.hash;
  const newest = running.find(isNew);
  const old = running.find((pod) => !isNew(pod));
  found.remove.push(...running.filter((pod) => pod !== newest && pod !== old));
  if (newest && old && (!isReady(old) || works(view, newest))) found.remove.push(old);
}
