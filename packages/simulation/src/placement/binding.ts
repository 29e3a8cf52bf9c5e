/**
 * Binds a pod to its node. Flotilla's API server lets its own controllers do so with an update, over any transport: its
 * admission then completes the pod in the same write (`openkruise/pod-readiness`), and the response updates the
 * informers. Every other API server takes a Binding.
 */
import { Pod } from "@flotilla/kubernetes";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";

/** `bound` has its node set. Returns false if the pod was changed or deleted in the meantime: then an event follows. */
export type Bind = (cluster: string, bound: DeepReadonly<Pod>, signal: AbortSignal) => Promise<boolean>;

export const bindByUpdate =
  (client: Client): Bind =>
  async (cluster, bound, signal) =>
    (await unlessChanged(client.update(Pod, cluster, bound, { signal }))) !== undefined;

export const bindByBinding =
  (client: Client): Bind =>
  async (cluster, { metadata: { name, namespace = "", uid = "" }, spec: { nodeName = "" } }, signal) => {
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: "Node", name: nodeName },
    };
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/binding`;
    const headers = { accept: "application/json", "content-type": "application/json" };
    const { status, body } = await client.raw(
      { method: "POST", path, cluster, headers, body: new TextEncoder().encode(JSON.stringify(binding)) },
      signal,
    );
    const answer = Buffer.concat(await Array.fromAsync(body)).toString();
    if (status < 300) return true;
    if (status === 404 || status === 409) return false;
    throw new FlotillaError(
      "Binding",
      `binding pod ${namespace}/${name} to ${nodeName}: the server responded with ${status}: ${answer.slice(0, 500)}`,
    );
  };
