/** Binds a pod to its node, as every scheduler does: the server sets the node and the topology labels. */
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";

/** Returns false if the pod was bound or deleted in the meantime: then an event follows. */
export async function bindPod(
  client: Client,
  cluster: string,
  { metadata: { name, namespace = "", uid = "" }, spec: { nodeName = "" } }: DeepReadonly<Pod>,
  signal: AbortSignal,
): Promise<boolean> {
  const binding = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name, namespace, uid },
    target: { apiVersion: "v1", kind: "Node", name: nodeName },
  };
  try {
    await client.perform(Pod, { cluster, namespace, name }, "binding", binding, { signal });
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}
