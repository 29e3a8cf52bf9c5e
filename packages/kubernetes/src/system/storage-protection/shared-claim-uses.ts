/**
 * Whether pods use the claims whose deletion waits. All claims of a namespace share one list of its pods: a namespace
 * may have thousands of claims, which are deleted together.
 */
import { Pod } from "../../pod/pod-kind.ts";
import { claimUses, isUseOf } from "../../persistentvolumeclaim/claim-use.ts";
import type { ClaimUse } from "../../persistentvolumeclaim/claim-use.ts";
import type { PersistentVolumeClaim } from "../../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";

type Claim = DeepReadonly<PersistentVolumeClaim>;

/** For how long claims share a list. They look every few seconds, so this delays the end of a deletion only a little. */
const SHARED_MS = 1_000;

interface List {
  /** Lists are numbered as they start. */
  number: number;
  startedMs: number;
  uses: Promise<ReadonlyMap<string, readonly ClaimUse[]>>;
}

export interface SharedClaimUses {
  /** The claim is deleted, and waits. A pod that gets its node after this cannot start with the claim. */
  waits(claim: Claim): void;
  /** The claim no longer exists. */
  gone(claim: Claim): void;
  /** Claims may be gone unseen; those that still wait are passed to `waits` again. */
  reset(): void;
  isUsed(cluster: string, claim: Claim, signal: AbortSignal): Promise<boolean>;
}

export function createSharedClaimUses({ client, clock }: { client: Client; clock: Clock }): SharedClaimUses {
  /** By cluster and namespace, oldest first; only lists that are still shared, or that nothing has replaced yet. */
  const lists = new Map<string, List>();
  /** The number of the latest list that had started when a claim was first seen to wait, by uid. */
  const waiting = new Map<string, number>();
  let started = 0;

  function start(cluster: string, namespace: string, signal: AbortSignal): List {
    const nowMs = clock.now();
    const id = `${cluster}/${namespace}`;
    lists.delete(id);
    for (const [other, { startedMs }] of lists) {
      if (nowMs - startedMs < SHARED_MS) break;
      lists.delete(other);
    }
    const list: List = { number: ++started, startedMs: nowMs, uses: readUses(client, { cluster, namespace, signal }) };
    lists.set(id, list);
    // Those that wait for it get the error; the next one lists again.
    list.uses.catch(() => lists.get(id) === list && lists.delete(id));
    return list;
  }

  return {
    waits({ metadata: { uid = "" } }) {
      if (!waiting.has(uid)) waiting.set(uid, started);
    },
    gone: ({ metadata: { uid = "" } }) => void waiting.delete(uid),
    reset: () => waiting.clear(),
    async isUsed(cluster, claim, signal) {
      const { name, namespace = "", uid = "" } = claim.metadata;
      const isIn = async ({ uses }: List): Promise<boolean> =>
        (await uses).get(name)?.some((use) => isUseOf(use, claim)) ?? false;
      const shared = lists.get(`${cluster}/${namespace}`);
      if (shared && clock.now() - shared.startedMs < SHARED_MS) {
        const isUsed = await isIn(shared);
        // A list from before the deletion may lack a pod that started until then.
        if (isUsed || shared.number > (waiting.get(uid) ?? Infinity)) return isUsed;
      }
      return isIn(start(cluster, namespace, signal));
    },
  };
}

async function readUses(
  client: Client,
  where: { cluster: string; namespace: string; signal: AbortSignal },
): Promise<ReadonlyMap<string, readonly ClaimUse[]>> {
  const uses = new Map<string, ClaimUse[]>();
  for await (const pod of eachObject(client, Pod, where))
    for (const use of claimUses(pod)) {
      const same = uses.get(use.claim);
      if (same) same.push(use);
      else uses.set(use.claim, [use]);
    }
  return uses;
}
