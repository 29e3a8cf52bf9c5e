/** Binds a pod to its node as schedulers do, with a Binding: for members on other API servers than ours. */
import type { Client } from "@flotilla/client";
import type { Bind } from "@flotilla/simulation";

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
    throw new Error(
      `binding pod ${namespace}/${name} to ${nodeName}: the server responded with ${status}: ${answer.slice(0, 500)}`,
    );
  };
