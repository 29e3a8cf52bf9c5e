/**
 * Ends the sidecars of a job's pod when its main containers are done, so that the pod ends, too.
 *
 * Reads: Pod, Node (virtual nodes have no daemon).
 * Writes: ContainerRecreateRequest (create); the images of sidecars on virtual nodes; the phase of pods whose sidecars'
 * exit codes do not count.
 * After: the daemon of the node stops the containers of the request; they are not restarted.
 */
import { isAlreadyExists } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { Node, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { ContainerRecreateRequest } from "../containerrecreaterequest/containerrecreaterequest-kind.ts";
import { SIDECAR_TERMINATED } from "../pod/sidecar-terminated.ts";
import { isVirtualNode } from "../pod/virtual-node.ts";
import { planSidecars } from "./sidecars.ts";

export function createSidecarTerminator(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const events = deps.events?.("sidecarterminator-controller");

  return defineKeyedController<ObjectKey>({
    name: "sidecar-terminator",
    writes: [Pod, ContainerRecreateRequest],
    sources: [
      // Few pods have such sidecars: the others never reach the queue.
      watch(Pod, ({ cluster, object, deleted }) =>
        !deleted && planSidecars(object, false) !== undefined ? [keyOf(cluster, object)] : [],
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      const node = nodes.get({ cluster: key.cluster, name: pod?.spec.nodeName ?? "" });
      const plan = pod && planSidecars(pod, isVirtualNode(node?.metadata.labels));
      if (!plan) return done;
      if (plan.replace.size > 0) await replace(pod, key, plan.replace, signal);
      if (plan.stop.length > 0) await stop(pod, key, plan.stop, signal);
      if (plan.phase) await declareEnd(pod, key, plan.phase, signal);
      if (plan.ignore.length > 0) await stop(pod, key, plan.ignore, signal);
      return done;
    },
  });

  function record(pod: ReadonlyPod, { cluster }: ObjectKey, names: readonly string[], how: string): void {
    events?.record(cluster, pod, {
      type: "Normal",
      reason: "SidecarTerminator",
      message: `Kruise SidecarTerminator is trying to terminate sidecar [${names.join(" ")}] using ${how}`,
    });
  }

  async function replace(
    pod: ReadonlyPod,
    key: ObjectKey,
    images: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const containers = pod.spec.containers.map((container) => ({
      ...container,
      image: images.get(container.name) ?? container.image,
    }));
    const written = await unlessChanged(
      client.update(Pod, key.cluster, { ...pod, spec: { ...pod.spec, containers } }, { signal }),
    );
    if (written) record(pod, key, [...images.keys()], "in-place update");
  }

  async function stop(pod: ReadonlyPod, key: ObjectKey, names: readonly string[], signal: AbortSignal): Promise<void> {
    const { name, namespace, uid = "" } = pod.metadata;
    const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true };
    try {
      await client.create(
        ContainerRecreateRequest,
        key.cluster,
        {
          apiVersion: "apps.kruise.io/v1alpha1",
          kind: "ContainerRecreateRequest",
          metadata: { name: `sidecar-termination-${uid}`, namespace, ownerReferences: [owner] },
          spec: {
            podName: name,
            containers: names.map((container) => ({ name: container })),
            strategy: { forceRecreate: true, failurePolicy: "Ignore" },
          },
        },
        { signal },
      );
    } catch (error) {
      // The daemon is at it.
      if (isAlreadyExists(error)) return;
      throw error;
    }
    record(pod, key, names, "crr");
  }

  async function declareEnd(
    pod: ReadonlyPod,
    key: ObjectKey,
    phase: "Succeeded" | "Failed",
    signal: AbortSignal,
  ): Promise<void> {
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return;
    const condition = {
      type: SIDECAR_TERMINATED,
      status: "True",
      lastTransitionTime: formatTime(clock.now()),
      message: "Terminated by Sidecar Terminator",
    };
    await client.patch(
      Pod,
      key,
      { status: { phase, conditions: [condition] } },
      { type: "strategic", subresource: "status", signal },
    );
  }
}
