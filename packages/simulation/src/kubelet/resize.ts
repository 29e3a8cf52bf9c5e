/**
 * In-place resize of running pods (`pods/resize`): granted at once if the node has room, deferred until it has,
 * infeasible if it never will. Pure.
 */
import type { Container, ContainerStatus, PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { inUnits, requestsOf } from "../amounts.ts";
import type { Amounts } from "../amounts.ts";
import { holds } from "./container.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyContainer = DeepReadonly<Container>;
type Status = DeepReadonly<ContainerStatus>;

/** The node's capacity, and what is left beside this pod. */
export interface Room {
  readonly allocatable: Amounts;
  readonly others: Amounts;
}

export interface ResizePlan {
  /** Containers keep their resources until there is room. */
  readonly isHeld: boolean;
  /** Reported as long as the resize is held. */
  readonly condition?: Omit<DeepReadonly<PodCondition>, "lastTransitionTime">;
}

const NOT_HELD: ResizePlan = { isHeld: false };

export function planResize(
  pod: ReadonlyPod,
  statuses: ReadonlyMap<string, Status>,
  room: () => Room | undefined,
): ResizePlan {
  if (statuses.size === 0) return NOT_HELD;
  const isResized = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].some((container) => {
    const status = statuses.get(container.name);
    return (
      status?.state?.running !== undefined && status.resources !== undefined && !holds(status, container.resources)
    );
  });
  const space = isResized ? room() : undefined;
  if (!space) return NOT_HELD;
  const refuse = (reason: string, message: string): ResizePlan => ({
    isHeld: true,
    condition: { type: "PodResizePending", status: "True", reason, message },
  });
  for (const [name, wanted] of requestsOf(pod)) {
    const total = space.allocatable.get(name) ?? 0;
    if (wanted > total)
      return refuse(
        "Infeasible",
        `Node didn't have enough capacity: ${name}, requested: ${inUnits(name, wanted)}, capacity: ${inUnits(name, total)}`,
      );
    const others = space.others.get(name) ?? 0;
    if (wanted + others > total)
      return refuse(
        "Deferred",
        `Node didn't have enough resource: ${name}, requested: ${inUnits(name, wanted)}, used: ${inUnits(name, others)}, capacity: ${inUnits(name, total)}`,
      );
  }
  return NOT_HELD;
}

/** A container whose resize policy requires it restarts with its new resources. */
export function restartsForResize({ resources, resizePolicy }: ReadonlyContainer, status: Status | undefined): boolean {
  if (!status?.state?.running || !status.resources || !resizePolicy) return false;
  return resizePolicy.some(({ resourceName, restartPolicy }) => {
    if (restartPolicy !== "RestartContainer") return false;
    const changed = (part: "requests" | "limits"): boolean =>
      !equalJson(status.resources?.[part]?.[resourceName], resources?.[part]?.[resourceName]);
    return changed("requests") || changed("limits");
  });
}
