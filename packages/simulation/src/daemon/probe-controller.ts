/**
 * OpenKruise's daemon on every simulated node: probes the pods of its NodePodProbe when they change. Nothing else can
 * change a result here, so a converged pod is not probed again.
 *
 * Reads: NodePodProbe, Pod, Node.
 * Writes: NodePodProbe status.
 */
import { equalJson } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import { createExpectations, Node, Pod } from "@flotilla/kubernetes";
import { NodePodProbe } from "@flotilla/openkruise";
import { FAILING_PROBES } from "../annotations.ts";
import { isLost } from "../nodes/lifecycle-controller.ts";
import { planProbes } from "./plan-probes.ts";

export interface ProbeDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  events?: EventRecorder;
}

export function createProbeController({ client, informers, clock, events }: ProbeDependencies): Controller<ObjectKey> {
  const nodes = informers.of(Node);
  const pods = informers.of(Pod);
  const nodeProbes = informers.of(NodePodProbe);
  const seen = createExpectations(nodeProbes, clock);

  return defineKeyedController<ObjectKey>({
    name: "kruise-daemon-probes",
    writes: [NodePodProbe],
    sources: [
      watch(NodePodProbe, ({ cluster, object }) => [{ cluster, name: object.metadata.name }]),
      watch(Pod, ({ cluster, object, old }) => {
        const { nodeName } = object.spec;
        const isSame =
          old !== undefined &&
          old.metadata.annotations?.[FAILING_PROBES] === object.metadata.annotations?.[FAILING_PROBES] &&
          equalJson(old.status?.containerStatuses ?? [], object.status?.containerStatuses ?? []);
        return nodeName && !isSame && nodeProbes.get({ cluster, name: nodeName }) ? [{ cluster, name: nodeName }] : [];
      }),
      watch(Node, ({ cluster, object, old }) =>
        old && isLost(old) && !isLost(object) ? [{ cluster, name: object.metadata.name }] : [],
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const { cluster } = key;
      const nodeProbe = nodeProbes.get(key);
      const node = nodes.get(key);
      if (!nodeProbe || nodeProbe.metadata.deletionTimestamp !== undefined || !node || isLost(node)) return done;
      const owner = { cluster, uid: key.name };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const plan = planProbes(
        nodeProbe,
        (uid, namespace, name) => {
          const pod = pods.get({ cluster, namespace, name });
          return pod?.metadata.uid === uid ? pod : undefined;
        },
        clock.now(),
      );
      if (!equalJson(plan.status, nodeProbe.status ?? {})) {
        const written = await unlessChanged(
          client.updateStatus(NodePodProbe, cluster, { ...nodeProbe, status: plan.status }, { signal }),
        );
        if (!written) return done; // The change reconciles it again.
        seen.wrote(owner, written);
        for (const { pod, state } of plan.changed)
          events?.record(cluster, pod, {
            type: "Normal",
            reason: state.state === "Succeeded" ? "KruiseProbeSucceeded" : "KruiseProbeFailed",
            message: state.message ?? "",
          });
      }
      return plan.waitMs === undefined ? done : { requeueAfterMs: plan.waitMs };
    },
  });
}
