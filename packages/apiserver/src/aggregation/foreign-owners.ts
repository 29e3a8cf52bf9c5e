/**
 * Garbage collection of objects whose owner an aggregated server stores. The store has no events of such owners, so they are
 * asked for: after each check of the servers, about every half a minute, and each owner once for all of its dependents. An answer
 * holds for the references with all its parts: kind, namespace, name and uid.
 *
 * Reads:  owners, from aggregated servers.
 * Writes: nothing; the garbage collector deletes the dependents of the owners that are gone.
 */
import type { OwnerReference } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { GarbageCollector } from "../background/garbage-collection.ts";
import { isSameReference } from "../background/ownership.ts";
import type { ForeignOwner } from "../background/ownership.ts";
import type { Cache } from "../store/cache.ts";
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
  cache,
  remotes,
  clock,
  signal,
}: {
  collector: Pick<GarbageCollector, "foreignReferences" | "settleWithout">;
  cache: Pick<Cache, "fresh">;
  remotes(cluster: string): readonly RemoteService[];
  clock: Clock;
  signal: AbortSignal;
}): ForeignOwners {
  /** When each cluster had its last pass, and the last owner that it asked for. */
  const passes = new Map<string, { atMs: number; last: string | undefined }>();

  /** Every owner is asked for once; owners that differ in any part are others. */
  const ownersIn = (cluster: string, kinds: OwnerKinds): [id: string, asked: AskedOwner][] => {
    const found = new Map<string, AskedOwner>();
    const ownerOf = (reference: OwnerReference, namespace: string | undefined): ForeignOwner | undefined =>
      foreignOwner(kinds.get(kindId(reference)), reference, namespace);
    for (const { key, reference, owner } of collector.foreignReferences(cluster, ownerOf)) {
      const kind = kinds.get(kindId(reference));
      if (!kind) continue;
      const id = ownerId(kind, owner);
      const known = found.get(id);
      if (known) known.dependents.push([key, reference]);
      else found.set(id, { kind, owner, dependents: [[key, reference]] });
    }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  };

  return {
    async settle(cluster) {
      const before = passes.get(cluster);
      if (before && clock.now() < before.atMs + PASS_EVERY_MS) return false;
      const kinds = ownerKinds(remotes(cluster).filter(isAvailable));
      if (kinds.size === 0) {
        passes.delete(cluster);
        return true;
      }
      const owners = ownersIn(cluster, kinds);
      const next = owners.findIndex(([id]) => before?.last !== undefined && id > before.last);
      const turn = owners.slice(Math.max(next, 0), Math.max(next, 0) + MAX_OWNERS);
      passes.set(cluster, { atMs: clock.now(), last: turn.length < owners.length ? turn.at(-1)?.[0] : undefined });
      const gone = new Map<string, OwnerReference[]>();
      await concurrently(turn, signal, async ([, { kind, owner, dependents }]) => {
        if (!(await isOwnerGone(kind, owner, { clock, signal }))) return;
        for (const [key, reference] of dependents) {
          const others = gone.get(key);
          if (others) others.push(reference);
          else gone.set(key, [reference]);
        }
      });
      if (gone.size === 0) return true;
      // Another server may have given the dependents other owners.
      await cache.fresh(signal);
      for (const [key, references] of gone)
        collector.settleWithout(key, (owner) => references.some((reference) => isSameReference(reference, owner)));
      return true;
    },
  };
}

interface AskedOwner {
  readonly kind: OwnerKind;
  readonly owner: ForeignOwner;
  readonly dependents: [key: string, reference: OwnerReference][];
}

export interface OwnerKind {
  readonly remote: RemoteService;
  readonly resource: string;
  readonly isNamespaced: boolean;
}

/** By version and kind: another version may belong to another server, which says nothing about the objects of this one. */
export type OwnerKinds = ReadonlyMap<string, OwnerKind>;

export const kindId = ({ apiVersion, kind }: Pick<OwnerReference, "apiVersion" | "kind">): string =>
  `${apiVersion}/${kind}`;

/** What the answer about an owner is about. */
export const ownerId = ({ remote }: OwnerKind, { group, kind, namespace = "", name, uid }: ForeignOwner): string =>
  JSON.stringify([group, remote.version, kind, namespace, name, uid]);

/** Undefined for an owner that the dependent cannot have: one in a namespace, of an object without. */
export function foreignOwner(
  kind: OwnerKind | undefined,
  reference: OwnerReference,
  namespace: string | undefined,
): ForeignOwner | undefined {
  if (!kind || (kind.isNamespaced && namespace === undefined)) return undefined;
  return {
    group: kind.remote.group,
    kind: reference.kind,
    namespace: kind.isNamespaced ? namespace : undefined,
    name: reference.name,
    uid: reference.uid,
  };
}

/** What can be read from servers. */
export function ownerKinds(remotes: readonly RemoteService[]): OwnerKinds {
  const kinds = new Map<string, OwnerKind>();
  for (const remote of remotes)
    for (const { resource, responseKind, scope, verbs } of remote.discovered?.resources ?? []) {
      const kind = isObject(responseKind) ? responseKind.kind : undefined;
      if (typeof resource !== "string" || typeof kind !== "string") continue;
      if (!Array.isArray(verbs) || !verbs.includes("get")) continue;
      kinds.set(kindId({ apiVersion: `${remote.group}/${remote.version}`, kind }), {
        remote,
        resource,
        isNamespaced: scope === "Namespaced",
      });
    }
  return kinds;
}

/** An owner that cannot be read counts as existing. */
export async function isOwnerGone(
  { remote, resource, isNamespaced }: OwnerKind,
  { namespace, name, uid }: ForeignOwner,
  context: { clock: Clock; signal: AbortSignal },
): Promise<boolean> {
  const path = ["apis", remote.group, remote.version]
    .concat(isNamespaced ? ["namespaces", namespace ?? ""] : [], resource, name)
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
  return typeof metadata?.uid === "string" && metadata.uid !== uid;
}
