/** Helpers for the controllers that create objects in every namespace. */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Namespace } from "../namespace/namespace-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from "@flotilla/apimachinery";

export function isTerminating({ metadata, status }: DeepReadonly<Namespace>): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";
}

/** Creates an object unless it already exists, or its namespace is terminating or deleted. */
export async function createInNamespace<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  cluster: string,
  object: DeepReadonly<T>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(kind, cluster, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
  }
}
