/**
 * Binds a pod to its node. Flotilla's API server lets its own controllers do so with an update, over any transport: its
 * admission then completes the pod in the same write (`openkruise/pod-readiness`), and the response updates the
 * informers. Every other API server takes a Binding.
 */
import { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";

/** `bound` has its node set. Returns false if the pod was changed or deleted in the meantime: then an event follows. */
export type Bind = (cluster: string, bound: DeepReadonly<Pod>, signal: AbortSignal) => Promise<boolean>;

export const bindByUpdate =
  (client: Client): Bind =>
  async (cluster, bound, signal) =>
    (await unlessChanged(client.update(Pod, cluster, bound, { signal }))) !== undefined;
