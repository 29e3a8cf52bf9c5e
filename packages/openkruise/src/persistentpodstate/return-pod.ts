/** Sends a pod of a recorded name to where its predecessor ran. */
import type { NodeSelectorRequirement, PreferredSchedulingTerm } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyPodState } from "./targets.ts";

const INJECTED_ANNOTATION = "kruise.io/injected-persistent-pod-state";

/** Returns the same pod if nothing was recorded for it. */
export function returnPod(pod: ReadonlyPod, { metadata, spec, status }: ReadonlyPodState): ReadonlyPod {
  const labels = status?.podStates?.[pod.metadata.name]?.nodeTopologyLabels ?? {};
  const recorded = (keys: readonly string[] = []): [string, string][] =>
    keys.flatMap((key): [string, string][] => (labels[key] === undefined ? [] : [[key, labels[key]]]));
  const required = recorded(spec.requiredPersistentTopology?.nodeTopologyKeys);
  const preferred = (spec.preferredPersistentTopology ?? []).map(({ weight, preference }): PreferredSchedulingTerm => ({
    weight,
    preference: { matchExpressions: recorded(preference.nodeTopologyKeys).map(isIn) },
  }));
  if (Object.keys(labels).length === 0 || (required.length === 0 && preferred.length === 0)) return pod;
  const { affinity, nodeSelector } = pod.spec;
  const { nodeAffinity } = affinity ?? {};
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [INJECTED_ANNOTATION]: metadata.name },
    },
    spec: {
      ...pod.spec,
      nodeSelector: required.length > 0 ? { ...nodeSelector, ...Object.fromEntries(required) } : nodeSelector,
      affinity:
        preferred.length > 0
          ? {
              ...affinity,
              nodeAffinity: {
                ...nodeAffinity,
                preferredDuringSchedulingIgnoredDuringExecution: [
                  ...(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
                  ...preferred,
                ],
              },
            }
          : affinity,
    },
  };
}

const isIn = ([key, value]: readonly [string, string]): NodeSelectorRequirement => ({
  key,
  operator: "In",
  values: [value],
});
