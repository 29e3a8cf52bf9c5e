/** The pods that were injected with a SidecarSet, and which of their changes a set watches. */
import { isNotFound } from "@flotilla/apimachinery";
import { compareText, equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import { isActive, isReady, Namespace, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { hasAllSidecars, isPodOfSet } from "./match.ts";
import { injectedSets } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet, StringMap } from "./sidecarset-names.ts";

/** Pods by the sets that they were injected with: `<cluster>/<set>`. */
const SET_INDEX = "sidecarset";

export interface SidecarPods {
  /** Active pods with the sidecars of this set that it still selects. */
  of(set: ReadonlySidecarSet, cluster: string, signal: AbortSignal): Promise<ReadonlyPod[]>;
}

export function createSidecarPods({ client, informers }: WorkloadDependencies): SidecarPods {
  const pods = informers.of(Pod);
  pods.addIndex(SET_INDEX, (pod, cluster) => injectedSets(pod).map((set) => `${cluster}/${set}`));

  async function labelsOf(namespace: ObjectKey, signal: AbortSignal): Promise<StringMap | undefined> {
    try {
      return (await client.get(Namespace, namespace, { signal })).metadata.labels ?? {};
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  return {
    async of(set, cluster, signal) {
      const candidates = pods
        .by(SET_INDEX, `${cluster}/${set.metadata.name}`)
        .filter((pod) => isActive(pod) && hasAllSidecars(pod, set));
      const labels = new Map<string, StringMap | undefined>();
      const namespaces = set.spec.namespaceSelector
        ? new Set(candidates.map(({ metadata }) => metadata.namespace ?? ""))
        : [];
      for (const namespace of namespaces) labels.set(namespace, await labelsOf({ cluster, name: namespace }, signal));
      return candidates.filter((pod) => isPodOfSet(pod, set, (namespace) => labels.get(namespace))).toSorted(byName);
    },
  };
}

/** Makes the order of pods deterministic. */
function byName({ metadata: a }: ReadonlyPod, { metadata: b }: ReadonlyPod): number {
  return compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.name, b.name);
}

/** Maps a pod to its sets, if a field changed that sets watch. */
export function setsOf({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
  const now = injectedSets(object);
  const before = old ? injectedSets(old) : [];
  if (now.length + before.length === 0) return [];
  if (old && !deleted && !changesSidecars(object, old)) return [];
  return [...new Set([...now, ...before])].map((name) => ({ cluster, name }));
}

function changesSidecars(pod: ReadonlyPod, old: ReadonlyPod): boolean {
  if (
    isReady(pod) !== isReady(old) ||
    pod.status?.phase !== old.status?.phase ||
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp
  )
    return true;
  if (
    !equalJson(pod.metadata.labels, old.metadata.labels) ||
    !equalJson(pod.metadata.annotations, old.metadata.annotations)
  )
    return true;
  return (
    !equalJson(pod.spec.containers, old.spec.containers) ||
    !equalJson(pod.status?.containerStatuses, old.status?.containerStatuses)
  );
}
