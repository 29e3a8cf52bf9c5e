/** Returns the object, or undefined when it does not exist, for callers that expect absence. */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { isNotFound } from "@flotilla/apimachinery";
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
