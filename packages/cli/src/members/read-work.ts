/** Reads the Work that delivers an object to a member. */
import { HUB, isForbidden } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { executionNamespace, Work, workName } from "@flotilla/karmada";

/** `forbidden` if the viewer may not read Works. */
export async function readWork(
  client: Client,
  { kind, metadata: { namespace, name } }: DeepReadonly<KubernetesObject>,
  cluster: string,
  signal: AbortSignal,
): Promise<DeepReadonly<Work> | "forbidden" | undefined> {
  const key = { cluster: HUB, namespace: executionNamespace(cluster), name: workName(kind, name, namespace ?? "") };
  try {
    return await find(client, Work, key, { signal });
  } catch (error) {
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}
