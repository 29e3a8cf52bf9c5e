/** What a pod watcher sees while a step runs: the fewest ready pods, the most pods, and the order of changes. */
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import { NAMESPACE } from "./member.ts";
import type { During } from "./scenario.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface PodChanges {
  see(event: ObjectEvent<Pod>): void;
  /** Restarts with the current pods. */
  reset(): void;
  during(): During;
  /** `create web-0 nginx:1.0`, `ready web-0`, `delete web-0`, `gone web-0`… */
  order(): readonly string[];
}

const isActive = ({ metadata, status }: ReadonlyPod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
const isReady = (pod: ReadonlyPod): boolean =>
  isActive(pod) && (pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false);
const imageOf = ({ spec }: ReadonlyPod): string => spec.containers[0]?.image ?? "";

export function createPodChanges(): PodChanges {
  const pods = new Map<string, ReadonlyPod>();
  let order: string[] = [];
  let seen: During = { minReady: 0, maxPods: 0 };
  const count = (test: (pod: ReadonlyPod) => boolean): number => [...pods.values()].filter(test).length;

  return {
    see({ object, old, deleted }) {
      const { name, namespace, uid } = object.metadata;
      if (namespace !== NAMESPACE) return;
      const before = pods.get(uid ?? name) ?? old;
      if (deleted) pods.delete(uid ?? name);
      else pods.set(uid ?? name, object);
      order.push(...changesOf(before, object, deleted));
      seen = { minReady: Math.min(seen.minReady, count(isReady)), maxPods: Math.max(seen.maxPods, count(isActive)) };
    },
    reset() {
      order = [];
      seen = { minReady: count(isReady), maxPods: count(isActive) };
    },
    during: () => seen,
    order: () => order,
  };
}

function changesOf(before: ReadonlyPod | undefined, pod: ReadonlyPod, deleted: boolean): string[] {
  const { name } = pod.metadata;
  if (deleted) return [...(before && isActive(before) ? [`delete ${name}`] : []), `gone ${name}`];
  if (!before) return [`create ${name} ${imageOf(pod)}`, ...(isReady(pod) ? [`ready ${name}`] : [])];
  if (pod.metadata.deletionTimestamp !== undefined)
    return before.metadata.deletionTimestamp === undefined ? [`delete ${name}`] : [];
  const changes: string[] = [];
  if (isReady(before) && !isReady(pod)) changes.push(`unready ${name}`);
  if (imageOf(before) !== imageOf(pod)) changes.push(`update ${name} ${imageOf(pod)}`);
  if (!isReady(before) && isReady(pod)) changes.push(`ready ${name}`);
  return changes;
}
