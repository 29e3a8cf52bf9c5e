/**
 * Waits until the hub has recorded what runs of the workloads that a new RolloutStrategy selects. The change that follows
 * in the same files is then a release of it; before, it would be recorded as what runs, and have no waves.
 */
import { HUB, isForbidden } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, sleep, textOf } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { createKindResolver, find, UnknownKindError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { FleetRollout, releasesOf } from "@flotilla/flotilla";
import type { RolloutStrategy } from "@flotilla/flotilla";
import { isClaimed } from "./apply-order.ts";

const POLL_MS = 100;
/** The hub takes milliseconds; without its controllers nothing is released either. */
const MOST_MS = 5_000;

export async function waitUntilRecorded(
  strategy: DeepReadonly<RolloutStrategy>,
  manifests: readonly JsonObject[],
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const { namespace = "" } = strategy.metadata;
  const untilMs = clock.now() + MOST_MS;
  const stored = await readStored(manifests, namespace, client, signal);
  const isPending = async (): Promise<boolean> => {
    const { items } = await client.list(FleetRollout, { cluster: HUB, namespace, signal });
    const releases = releasesOf({ rollouts: items, strategies: [strategy], leads: [] });
    return stored.some((template) => releases.of(template) === "pending");
  };
  try {
    while (stored.length > 0 && clock.now() < untilMs && (await isPending())) await sleep(clock, POLL_MS, signal);
  } catch (error) {
    if (!isForbidden(error)) throw error; // The hub records it all the same.
  }
}

/** Of the manifests in the namespace, the objects that the hub has and that a policy has claimed: nothing runs of others. */
async function readStored(
  manifests: readonly JsonObject[],
  namespace: string,
  client: Client,
  signal: AbortSignal,
): Promise<DeepReadonly<KubernetesObject>[]> {
  const kinds = createKindResolver({ client, cluster: HUB });
  const found = await Promise.all(
    manifests.map(async ({ apiVersion, kind, metadata }) => {
      const { name, namespace: own } = isObject(metadata) ? metadata : {};
      if (own !== undefined && own !== namespace) return undefined;
      try {
        const resolved = await kinds.resolve({ apiVersion: textOf(apiVersion), kind: textOf(kind) });
        if (resolved.scope !== "Namespaced") return undefined;
        return await find(client, resolved, { cluster: HUB, namespace, name: textOf(name) }, { signal });
      } catch (error) {
        if (error instanceof UnknownKindError || isForbidden(error)) return undefined;
        throw error;
      }
    }),
  );
  return found.filter((object) => object !== undefined).filter(isClaimed);
}
