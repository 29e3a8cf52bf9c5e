/**
 * Garbage collection of objects whose owner an aggregated server stores. The store has no events of such owners, so they are
 * asked for: after each check of the servers, about every half a minute, and each owner once for all of its dependents.
 *
 * Reads:  owners, from aggregated servers.
 * Writes: nothing; the garbage collector deletes the dependents of the owners that are gone.
 */
import { gvkOf } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { ForeignOwner, GarbageCollector } from "../background/garbage-collection.ts";
import { concurrently } from "../write/concurrently.ts";
import { ask } from "./remote-calls.ts";
import type { RemoteAnswer } from "./remote-calls.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

/** Several servers of a cluster are checked one after the other, and each check asks for a pass. */
const PASS_EVERY_MS = 20_000;
/** Owners that one pass asks for; the next one continues with the others. */
const MAX_OWNERS = 1_000;
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

export interface ForeignOwners {
  /** Settles the dependents of owners that are gone. Resolves with false when that was done a moment ago. */
  settle(cluster: string): Promise<boolean>;
}

export function createForeignOwners({
  collector,
  remotes,
  clock,
  signal,
}: {
  collector: Pick<GarbageCollector, "foreignOwners" | "ownerGone">;
  remotes(cluster: string): readonly RemoteService[];
  clock: Clock;
  signal: AbortSignal;
}): ForeignOwners {
  /** When each cluster had its last pass, and the last owner that it asked for. */
  const passes = new Map<string, { atMs: number; last: string | undefined }>();
  return {
    async settle(cluster) {
      const before = passes.get(cluster);
      if (before && clock.now() < before.atMs + PASS_EVERY_MS) return false;
      const kinds = ownerKinds(remotes(cluster).filter(isAvailable));
      if (kinds.size === 0) {
        passes.delete(cluster);
        return true;
      }
      const groups = new Set([...kinds.values()].map(({ remote }) => remote.group));
      const owners = [...collector.foreignOwners(cluster, groups)].sort(([a], [b]) => (a < b ? -1 : 1));
      const next = owners.findIndex(([uid]) => before?.last !== undefined && uid > before.last);
      const turn = owners.slice(Math.max(next, 0), Math.max(next, 0) + MAX_OWNERS);
      passes.set(cluster, { atMs: clock.now(), last: turn.length < owners.length ? turn.at(-1)?.[0] : undefined });
      await concurrently(turn, signal, async ([uid, found]) => {
        const kind = kinds.get(idOf(found.owner));
        if (kind && (await isOwnerGone(kind, found, { clock, signal }))) collector.ownerGone(cluster, uid);
      });
      return true;
    },
  };
}

interface OwnerKind {
  remote: RemoteService;
  resource: string;
  isNamespaced: boolean;
}

const idOf = (owner: OwnerReference): string => `${gvkOf(owner).group}/${owner.kind}`;

/** By group and kind: what can be read from a server, in any version. */
export function ownerKinds(remotes: readonly RemoteService[]): Map<string, OwnerKind> {
  const kinds = new Map<string, OwnerKind>();
  for (const remote of remotes)
    for (const { resource, responseKind, scope, verbs } of remote.discovered?.resources ?? []) {
      const kind = isObject(responseKind) ? responseKind.kind : undefined;
      if (typeof resource !== "string" || typeof kind !== "string") continue;
      if (!Array.isArray(verbs) || !verbs.includes("get")) continue;
      kinds.set(`${remote.group}/${kind}`, {
        remote,
        resource,
        isNamespaced: scope === "Namespaced",
      });
    }
  return kinds;
}

/** An owner that cannot be read counts as existing, and so does one that its dependent cannot have. */
export async function isOwnerGone(
  { remote, resource, isNamespaced }: OwnerKind,
  { owner, namespace }: ForeignOwner,
  context: { clock: Clock; signal: AbortSignal },
): Promise<boolean> {
  if (isNamespaced && namespace === undefined) return false;
  const path = ["apis", remote.group, remote.version]
    .concat(isNamespaced ? ["namespaces", namespace ?? ""] : [], resource, owner.name)
    .map(encodeURIComponent)
    .join("/");
  let answer: RemoteAnswer;
  try {
    answer = await ask(remote, `/${path}`, context, { accept: METADATA });
  } catch {
    // The condition of the APIService reports a server that does not answer.
    return false;
  }
  const { status, json } = answer;
  if (status === 404) return true;
  const metadata = isObject(json) && isObject(json.metadata) ? json.metadata : undefined;
  return typeof metadata?.uid === "string" && metadata.uid !== owner.uid;
}
