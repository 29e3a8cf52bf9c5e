/**
 * The barrier that delays containers until those of a higher launch priority are ready: every container has a variable
 * from a key of the ConfigMap `<pod>-barrier`, and no kubelet starts a container before the key of its variable exists.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

export const BARRIER_VARIABLE = "KRUISE_CONTAINER_BARRIER";
export const PRIORITY_VARIABLE = "KRUISE_CONTAINER_PRIORITY";
export const LAUNCH_PRIORITY_ANNOTATION = "apps.kruise.io/container-launch-priority";
export const LAUNCH_COMPLETED_ANNOTATION = "apps.kruise.io/container-launch-priority-completed";

export const barrierName = (pod: string): string => `${pod}-barrier`;
export const barrierKey = (priority: number): string => `p_${priority}`;

/** The priority of a container's barrier; undefined for a container without one. */
export function launchPriorityOf({ env }: DeepReadonly<Container>): number | undefined {
  const key = env?.find(({ name }) => name === BARRIER_VARIABLE)?.valueFrom?.configMapKeyRef?.key;
  if (key === undefined) return undefined;
  const priority = Number(key.slice("p_".length));
  return Number.isSafeInteger(priority) ? priority : 0;
}
