/**
 * PodProbeMarker: gives the daemons of the nodes the probes of its pods.
 *
 * Reads: PodProbeMarker, Pod, NodePodProbe.
 * Writes: NodePodProbe (its probes), PodProbeMarker status and a finalizer, until its probes are gone.
 * After: the daemon of a node probes; the controller of NodePodProbes marks the pods.
 */
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations, Node, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { NodePodProbe } from "../nodepodprobe/nodepodprobe-kind.ts";
import { isVirtualNode } from "../pod/virtual-node.ts";
import { isProbed, selects, withProbes } from "./plan-probes.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";
import { serverlessMetadata } from "./serverless.ts";

const FINALIZER = "kruise.io/node-pod-probe-cleanup";

export function createPodProbeMarkerController({
  client,
  informers,
  clock,
  gates = DEFAULT_GATES,
}: KruiseDependencies): Controller<ObjectKey> {
  const markers = informers.of(PodProbeMarker);
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const nodeProbes = informers.of(NodePodProbe);
  const marksVirtual = gates.isOn("EnablePodProbeMarkerOnServerless");
  const isOnVirtualNode = (cluster: string, { spec }: ReadonlyPod): boolean =>
    isVirtualNode(nodes.get({ cluster, name: spec.nodeName ?? "" })?.metadata.labels);
  const seen = createExpectations(nodeProbes, clock);

  function markersOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const counts =
      deleted ||
      !old ||
      isProbed(old) !== isProbed(object) ||
      old.status?.podIP !== object.status?.podIP ||
      !equalJson(old.metadata.labels ?? {}, object.metadata.labels ?? {}) ||
      // Reported by the provider of a virtual node.
      (marksVirtual && isOnVirtualNode(cluster, object));
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
      const [onVirtual, onNodes] = [true, false].map((is) =>
        matched.filter((pod) => isOnVirtualNode(cluster, pod) === is),
      );
      if (marksVirtual && !isEnding) await markVirtual(marker, onVirtual ?? [], cluster, signal);
      const byNode = Map.groupBy(isEnding ? [] : (onNodes ?? []), ({ spec }) => spec.nodeName ?? "");
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

  async function markVirtual(
    marker: ReadonlyMarker,
    onVirtual: readonly ReadonlyPod[],
    cluster: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const pod of onVirtual) {
      const metadata = serverlessMetadata(pod, marker);
      if (metadata)
        await unlessChanged(client.patch(Pod, keyOf(cluster, pod), { metadata }, { type: "merge", signal }));
    }
  }

  async function setFinalizers(key: ObjectKey, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    await unlessChanged(
      client.patch(PodProbeMarker, key, { metadata: { finalizers: [...finalizers] } }, { type: "merge", signal }),
    );
  }
}
