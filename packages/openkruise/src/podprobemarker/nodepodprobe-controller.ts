/**
 * NodePodProbe: one for each node, without pods that are gone; and the results of its probes on the pods. Clusters
 * without PodProbeMarkers have none: most members never need them.
 *
 * Reads: Node, NodePodProbe, Pod, PodProbeMarker.
 * Writes: NodePodProbe; the conditions that probes name in the status of pods, and their labels and annotations.
 * Before: the daemon of the node reports results in the status.
 */
import { isAlreadyExists } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { isActive, Node, Pod } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import type { ReadonlyNodeProbe } from "./plan-probes.ts";
import { markPod } from "./mark-pod.ts";
import { NodePodProbe } from "../nodepodprobe/nodepodprobe-kind.ts";

export function createNodePodProbeController({ client, informers }: WorkloadDependencies): Controller<ObjectKey> {
  const nodes = informers.of(Node);
  const nodeProbes = informers.of(NodePodProbe);
  const pods = informers.of(Pod);
  const markers = informers.of(PodProbeMarker);

  return defineKeyedController<ObjectKey>({
    name: "nodepodprobe",
    writes: [NodePodProbe, Pod],
    sources: [
      watch(Node, ({ cluster, object, old, deleted }) =>
        !old || deleted ? [{ cluster, name: object.metadata.name }] : [],
      ),
      watch(NodePodProbe, ({ cluster, object }) => [{ cluster, name: object.metadata.name }]),
      watch(PodProbeMarker, ({ cluster, old }) =>
        old ? [] : nodes.list({ cluster }).map(({ metadata }) => ({ cluster, name: metadata.name })),
      ),
      watch(Pod, ({ cluster, object, old, deleted }) => {
        const { nodeName } = object.spec;
        const ends = deleted || (old !== undefined && isActive(old) && !isActive(object));
        return nodeName && ends ? [{ cluster, name: nodeName }] : [];
      }),
    ],
    idOf: idOfKey,

    async reconcile({ cluster, name }, { signal }) {
      const key = { cluster, name };
      const node = nodes.get(key);
      const nodeProbe = nodeProbes.get(key);
      const isNodeGone = !node || node.metadata.deletionTimestamp !== undefined;
      if (!nodeProbe) {
        if (!isNodeGone && markers.list({ cluster }).length > 0) await create(key, signal);
        return done;
      }
      if (isNodeGone) {
        if (nodeProbe.metadata.deletionTimestamp === undefined)
          await unlessChanged(
            client.delete(NodePodProbe, key, { preconditions: { uid: nodeProbe.metadata.uid }, signal }),
          );
        return done;
      }
      const isThere = ({ namespace, name: pod, uid }: { namespace: string; name: string; uid: string }): boolean => {
        const found = pods.get({ cluster, namespace, name: pod });
        return found !== undefined && found.metadata.uid === uid && isActive(found);
      };
      const probes = nodeProbe.spec?.podProbes ?? [];
      const kept = probes.filter(isThere);
      if (kept.length < probes.length) {
        const spec = { podProbes: kept.length > 0 ? kept : undefined };
        await unlessChanged(client.update(NodePodProbe, cluster, { ...nodeProbe, spec }, { signal }));
        return done; // The change reconciles it again.
      }
      await mark(nodeProbe, cluster, signal);
      return done;
    },
  });

  async function create({ cluster, name }: { cluster: string; name: string }, signal: AbortSignal): Promise<void> {
    const nodeProbe = { apiVersion: "apps.kruise.io/v1alpha1", kind: "NodePodProbe", metadata: { name } };
    try {
      await client.create(NodePodProbe, cluster, nodeProbe, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async function mark(nodeProbe: ReadonlyNodeProbe, cluster: string, signal: AbortSignal): Promise<void> {
    const probed = new Set(nodeProbe.spec?.podProbes?.map(({ uid }) => uid));
    for (const results of nodeProbe.status?.podProbeStatuses ?? []) {
      const { namespace, name, uid } = results;
      const pod = pods.get({ cluster, namespace, name });
      if (!pod || !probed.has(uid) || pod.metadata.uid !== uid || !isActive(pod)) continue;
      const marked = markPod(pod, results, (marker) => {
        const found = markers.get({ cluster, namespace, name: marker });
        return found?.metadata.deletionTimestamp === undefined ? found : undefined;
      });
      // A changed pod is written again: its daemon probes it again, and reports.
      if (marked !== pod) await client.updateStatus(Pod, cluster, marked, { signal });
    }
  }
}
