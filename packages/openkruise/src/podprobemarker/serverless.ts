/**
 * Probes of pods on virtual nodes, which have no daemon (gate EnablePodProbeMarkerOnServerless). Pure.
 *
 * Every new pod carries its probes in an annotation. The provider of a virtual node runs them and sets the conditions;
 * the controller of PodProbeMarkers sets the labels and annotations that belong to these.
 */
import { equalJson } from "@flotilla/base";
import { podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";

const PROBES_ANNOTATION = "kruise.io/podprobe";
const MARKERS_ANNOTATION = "kruise.io/podprobemarker-list";

/** `markers` select the pod. Of probes for the same condition, or of the same name and container, the first counts. */
export function withCarriedProbes(pod: ReadonlyPod, markers: readonly ReadonlyMarker[]): ReadonlyPod {
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const containers = new Set([...pod.spec.containers, ...sidecars].map(({ name }) => name));
  const names = new Set<string>();
  const keys = new Set<string>();
  const types = new Set<string>();
  const probes: object[] = [];
  for (const { metadata, spec } of markers)
    for (const { markerPolicy: _policy, ...probe } of spec.probes) {
      const { name, containerName, podConditionType = "" } = probe;
      const key = `${containerName}/${name}`;
      if (podConditionType === "" || types.has(podConditionType) || keys.has(key) || !containers.has(containerName))
        continue;
      probes.push(probe);
      keys.add(key);
      types.add(podConditionType);
      names.add(metadata.name);
    }
  if (probes.length === 0) return pod;
  const annotations = {
    ...pod.metadata.annotations,
    [PROBES_ANNOTATION]: JSON.stringify(probes),
    [MARKERS_ANNOTATION]: [...names].toSorted((a, b) => (a < b ? -1 : 1)).join(","),
  };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** The metadata that follows from the conditions of a pod on a virtual node; undefined if it has it. */
export function serverlessMetadata(
  pod: ReadonlyPod,
  { spec }: ReadonlyMarker,
): Record<"labels" | "annotations", Record<string, string>> | undefined {
  const labels = { ...pod.metadata.labels };
  const annotations = { ...pod.metadata.annotations };
  for (const { podConditionType = "", markerPolicy = [] } of spec.probes) {
    const status = podConditionType === "" ? undefined : podCondition(pod, podConditionType)?.status;
    const state = status === "True" ? "Succeeded" : status === "False" ? "Failed" : undefined;
    for (const policy of markerPolicy) {
      if (policy.state !== state) continue;
      Object.assign(labels, policy.labels);
      Object.assign(annotations, policy.annotations);
    }
  }
  const isSame = equalJson(labels, pod.metadata.labels ?? {}) && equalJson(annotations, pod.metadata.annotations ?? {});
  return isSame ? undefined : { labels, annotations };
}
