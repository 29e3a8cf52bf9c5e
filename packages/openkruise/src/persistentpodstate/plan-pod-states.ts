/** Decides what a PersistentPodState records. */
import type { PodState } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isReady } from "@flotilla/kubernetes";
import type { Node, ReadonlyPod } from "@flotilla/kubernetes";
import type { PersistentPodState } from "./persistentpodstate-kind.ts";
import type { ReadonlyPodState, Target } from "./targets.ts";

type Status = NonNullable<PersistentPodState["status"]>;

interface Observed {
  /** Unset if it does not exist, or is being deleted. */
  target: DeepReadonly<Target> | undefined;
  pods: readonly ReadonlyPod[];
  node(name: string): DeepReadonly<Node> | undefined;
}

export function planPodStates(state: ReadonlyPodState, { target, pods, node }: Observed): Status {
  const observedGeneration = state.metadata.generation ?? 0;
  if (!target) return { observedGeneration };
  const records = new Map<string, DeepReadonly<PodState>>(Object.entries(state.status?.podStates ?? {}));
  for (const pod of pods) {
    const at = pod.spec.nodeName === undefined || !isReady(pod) ? undefined : node(pod.spec.nodeName);
    if (!at) continue;
    const record = recordOf(state, pod, at);
    if (!equalJson(record, records.get(pod.metadata.name))) records.set(pod.metadata.name, record);
  }
  if (state.spec.persistentPodStateRetentionPolicy !== "WhenDeleted") {
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    for (const name of records.keys()) if (!names.has(name) && !isWanted(name, target)) records.delete(name);
  }
  return {
    observedGeneration,
    podStates: records.size > 0 ? Object.fromEntries(records) : undefined,
  };
}

function recordOf({ spec }: ReadonlyPodState, pod: ReadonlyPod, node: DeepReadonly<Node>): PodState {
  const keys = [
    ...(spec.requiredPersistentTopology?.nodeTopologyKeys ?? []),
    ...(spec.preferredPersistentTopology ?? []).flatMap(({ preference }) => preference.nodeTopologyKeys),
  ];
  const annotations = (spec.persistentPodAnnotations ?? []).map(({ key }) => key);
  return {
    nodeName: node.metadata.name,
    nodeTopologyLabels: pick(node.metadata.labels, keys),
    annotations: annotations.length > 0 ? pick(pod.metadata.annotations, annotations) : undefined,
  };
}

function pick(from: Readonly<Record<string, string>> = {}, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    [...new Set(keys)].toSorted().flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])),
  );
}

/** Whether the StatefulSet has a pod of this ordinal. */
function isWanted(podName: string, { spec }: DeepReadonly<Target>): boolean {
  const ordinal = Number(podName.slice(podName.lastIndexOf("-") + 1));
  if (!Number.isInteger(ordinal)) return true;
  const start = spec?.ordinals?.start ?? 0;
  const reserved = new Set(spec?.reserveOrdinals?.map(Number));
  if (ordinal < start || reserved.has(ordinal)) return false;
  const reservedBefore = [...reserved].filter((one) => one >= start && one < ordinal).length;
  return ordinal - start - reservedBefore < (spec?.replicas ?? 1);
}
