/**
 * PodProbeMarker: gives the daemons of the nodes the probes of its pods.
 *
 * Reads: PodProbeMarker, Pod, NodePodProbe.
 * Writes: NodePodProbe (its probes), PodProbeMarker status and a finalizer, until its probes are gone.
 * After: the daemon of a node probes; the controller of NodePodProbes marks the pods.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { NodePodProbe } from "../nodepodprobe/nodepodprobe-kind.ts";
import { isProbed, withProbes } from "./plan-probes.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";

const FINALIZER = "kruise.io/node-pod-probe-cleanup";

export function createPodProbeMarkerController({
  client,
  informers,
  clock,
}: WorkloadDependencies): Controller<ObjectKey> {
  const markers = informers.of(PodProbeMarker);
  const pods = informers.of(Pod);
  const nodeProbes = informers.of(NodePodProbe);
  const seen = createExpectations(nodeProbes, clock);

  function markersOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const counts =
      deleted ||
      !old ||
      isProbed(old) !== isProbed(object) ||
      old.status?.podIP !== object.status?.podIP ||
      !equalJson(old.metadata.labels ?? {}, object.metadata.labels ?? {});
    if (!counts) return [];
    return markers
      .list({ cluster, namespace: object.metadata.namespace ?? "" })
      .filter((marker) => selects(marker, object) || (old !== undefined && selects(marker, old)))
      .map((marker) => keyOf(cluster, marker));
  }

  return defineController({
    name: "podprobemarker",
    for: PodProbeMarker,
    watches: [
      watch(Pod, markersOfPod),
      // A node that joins later gets the probes of its pods.
      watch(NodePodProbe, ({ cluster, old, deleted }) =>
        !old || deleted ? markers.list({ cluster }).map((marker) => keyOf(cluster, marker)) : [],
      ),
    ],
    writes: [NodePodProbe, PodProbeMarker],

    async reconcile(marker, { key, signal }) {
      const { cluster, namespace = "" } = key;
      const owner = { cluster, uid: marker.metadata.uid ?? "" };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const { deletionTimestamp, finalizers = [], generation } = marker.metadata;
      const isEnding = deletionTimestamp !== undefined;
      if (!isEnding && !finalizers.includes(FINALIZER)) {
        await setFinalizers(key, [...finalizers, FINALIZER], signal);
        return done; // The change reconciles it again.
      }
      const matched = pods.list({ cluster, namespace }).filter((pod) => isProbed(pod) && selects(marker, pod));
      const byNode = Map.groupBy(isEnding ? [] : matched, ({ spec }) => spec.nodeName ?? "");
      for (const nodeProbe of nodeProbes.list({ cluster })) {
        const next = withProbes(nodeProbe, marker, byNode.get(nodeProbe.metadata.name) ?? []);
        if (next === nodeProbe) continue;
        seen.wrote(owner, await client.update(NodePodProbe, cluster, next, { signal }));
      }
      if (isEnding) {
        const left = finalizers.filter((one) => one !== FINALIZER);
        if (left.length < finalizers.length) await setFinalizers(key, left, signal);
        return done;
      }
      const status = { observedGeneration: generation ?? 0, matchedPods: matched.length };
      if (!equalJson(status, { matchedPods: 0, ...marker.status }))
        await unlessChanged(client.updateStatus(PodProbeMarker, cluster, { ...marker, status }, { signal }));
      return done;
    },
  });

  async function setFinalizers(key: ObjectKey, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    await unlessChanged(
      client.patch(PodProbeMarker, key, { metadata: { finalizers: [...finalizers] } }, { type: "merge", signal }),
    );
  }
}

const selects = ({ spec }: ReadonlyMarker, { metadata }: ReadonlyPod): boolean =>
  matchesLabels(labelSelectorOf(spec.selector), metadata.labels);
