/** Returns the object, or undefined when it does not exist, for callers that expect absence. */
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { isNotFound } from "../machinery/index.ts";
import type { Client, ObjectKey, ReadOptions } from "./client.ts";

export async function find<T extends KubernetesObject>(
  client: Pick<Client, "get">,
  kind: Kind<T>,
  key: ObjectKey,
  options?: ReadOptions,
): Promise<DeepReadonly<T> | undefined> {
  try {
    return await client.get(kind, key, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
