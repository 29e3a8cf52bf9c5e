/** Adopts the orphans that a workload selects, and releases its pods that it does not select any more. */
import { matchesLabels } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import { orphansOf, ownedBy } from "../workloads/ownership.ts";
import { selectorOf } from "../workloads/selector.ts";
import type { Selecting } from "../workloads/selector.ts";
import type { Pod } from "./pod-kind.ts";
import type { ReadonlyPod } from "./pod-state.ts";
import type { PodWriter } from "./pod-writer.ts";

export interface PodClaimer {
  pods: Informer<Pod>;
  writer: Pick<PodWriter, "adopt" | "release">;
  /** Whether a pod can be one of the workload, by its name; unset accepts every pod that the selector matches. */
  isMember?(pod: ReadonlyPod): boolean;
}

/** The pods of the workload; undefined if some had to be adopted or released first. */
export async function claimPods(
  { pods, writer, isMember = () => true }: PodClaimer,
  owner: { cluster: string; object: DeepReadonly<KubernetesObject> & Selecting },
  signal: AbortSignal,
): Promise<ReadonlyPod[] | undefined> {
  const { cluster, object } = owner;
  const selector = selectorOf(object);
  const orphans = orphansOf(pods, cluster, object.metadata.namespace, selector).filter(isMember);
  const all = ownedBy(pods, cluster, object.metadata.uid);
  const unselected = all.filter(
    (pod) => !pod.metadata.deletionTimestamp && !(isMember(pod) && matchesLabels(selector, pod.metadata.labels)),
  );
  await writer.adopt(owner, orphans, signal);
  await writer.release(owner, unselected, signal);
  return orphans.length + unselected.length > 0 ? undefined : all.filter(isMember);
}
