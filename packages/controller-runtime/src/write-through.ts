/**
 * A client that passes its responses directly to the informers: a controller that has just written an object finds it
 * in its listers, instead of deciding again on a view from before its own write.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { SharedInformers } from "./informers.ts";

export function createWriteThroughClient(client: Client, informers: readonly Pick<SharedInformers, "note">[]): Client {
  async function noted<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    dryRun: boolean | undefined,
    answer: Promise<DeepReadonly<T>>,
  ): Promise<DeepReadonly<T>> {
    const object = await answer;
    if (!dryRun) for (const each of informers) each.note(kind, cluster, object);
    return object;
  }
  return {
    ...client,
    create: (kind, cluster, object, options) =>
      noted(kind, cluster, options?.dryRun, client.create(kind, cluster, object, options)),
    update: (kind, cluster, object, options) =>
      noted(kind, cluster, options?.dryRun, client.update(kind, cluster, object, options)),
    updateStatus: (kind, cluster, object, options) =>
      noted(kind, cluster, options?.dryRun, client.updateStatus(kind, cluster, object, options)),
    patch: (kind, key, patch, options) =>
      noted(kind, key.cluster, options.dryRun, client.patch(kind, key, patch, options)),
    apply: (kind, cluster, object, options) =>
      noted(kind, cluster, options?.dryRun, client.apply(kind, cluster, object, options)),
  };
}
