/** Reads the pods of a PodUnavailableBudget and their desired number. */
import type { ObjectKey } from "@flotilla/client";
import type { Informer } from "@flotilla/controller-runtime";
import { ownedBy } from "@flotilla/kubernetes";
import type { Pod, ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import { scopeOf } from "./budget-scope.ts";
import type { Scope, Workload, WorkloadRef } from "./budget-scope.ts";
import type { Workloads } from "./workloads.ts";

/** Workloads are looked up first, because some need a request. */
export async function readScope(
  { pods, workloads }: { pods: Informer<Pod>; workloads: Workloads },
  budget: ReadonlyBudget,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Scope> {
  const { cluster, namespace = "" } = key;
  const found = new Map<string, Workload | undefined>();
  const idOf = ({ apiVersion, kind, name, uid = "" }: WorkloadRef): string => `${apiVersion}/${kind}/${name}/${uid}`;
  const unknown: WorkloadRef[] = [];
  const reader = {
    selected: (matches: (pod: ReadonlyPod) => boolean) => pods.list({ cluster, namespace }).filter(matches),
    ownedBy: (uid: string) => ownedBy(pods, cluster, uid),
    workload(ref: WorkloadRef) {
      if (!found.has(idOf(ref))) unknown.push(ref);
      return found.get(idOf(ref));
    },
  };
  for (;;) {
    const scope = scopeOf(budget, reader);
    if (unknown.length === 0) return scope;
    for (const ref of unknown.splice(0))
      found.set(idOf(ref), await workloads.find({ cluster, namespace }, ref, signal));
  }
}
