/**
 * Renews the Leases of simulated nodes, as kubelets do, on members that have their own kube-controller-manager: without
 * them it would take the nodes for dead. On other members nothing reads the Leases, so they are not written.
 *
 * Reads: Node.
 * Writes: Lease in `kube-node-lease`, one per node, every ten seconds.
 */
import { Lease } from "@flotilla/kubernetes";
import type { Node } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { isAlreadyExists, isConflict } from "@flotilla/apimachinery";
import { defineKeyedController, done } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { ClusterViews } from "../placement/views.ts";
import { isLost } from "./lifecycle-controller.ts";

const NAMESPACE = "kube-node-lease";
/** Kubelets' defaults. */
const RENEW_EVERY_MS = 10_000;
const LEASE_SECONDS = 40;

export interface HeartbeatDependencies {
  client: Client;
  clock: Clock;
  views: Pick<ClusterViews, "of">;
  /** Whether a member has its own kube-controller-manager. */
  isManagedElsewhere(cluster: string): boolean;
  /** Notifies about members that start to have one. */
  onManagedElsewhere(listener: (cluster: string) => void): () => void;
}

export function createHeartbeatController(deps: HeartbeatDependencies): Controller<{ cluster: string }> {
  const { client, clock, views, isManagedElsewhere, onManagedElsewhere } = deps;
  return defineKeyedController<{ cluster: string }>({
    name: "node-heartbeat",
    writes: [Lease],
    sources: [
      {
        source: {
          start(enqueue, signal) {
            const stop = onManagedElsewhere((cluster) => enqueue({ cluster }));
            signal.addEventListener("abort", stop, { once: true });
          },
          isQuiet: () => true,
        },
      },
    ],
    idOf: ({ cluster }) => cluster,
    async reconcile({ cluster }, { signal }) {
      if (!isManagedElsewhere(cluster)) return done;
      for (const node of Array.from(views.of(cluster).nodes.values()))
        if (!isLost(node.node)) await renew(cluster, node.node, signal);
      return { requeueAfterMs: RENEW_EVERY_MS };
    },
  });

  async function renew(cluster: string, { metadata }: DeepReadonly<Node>, signal: AbortSignal): Promise<void> {
    const { name, uid = "" } = metadata;
    const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const present = await find(client, Lease, { cluster, namespace: NAMESPACE, name }, { signal });
    try {
      if (present)
        await client.update(Lease, cluster, { ...present, spec: { ...present.spec, renewTime } }, { signal });
      else
        await client.create(
          Lease,
          cluster,
          {
            apiVersion: "coordination.k8s.io/v1",
            kind: "Lease",
            metadata: {
              name,
              namespace: NAMESPACE,
              ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
            },
            spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
          },
          { signal },
        );
    } catch (error) {
      // Renewed again in ten seconds.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }
}
