/** Reads from one member: from informers where they are fresh, and from the member itself otherwise. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client, KindResolver, ObjectKey } from "@flotilla/client";
import type { ApplyPolicy } from "./delivery.ts";
import type { Observer } from "./observer.ts";
import type { Ownership } from "./ownership.ts";
import { untilListed } from "./until-listed.ts";

export type Manifest = DeepReadonly<KubernetesObject>;

export interface MemberAccess {
  client: Client;
  cluster: string;
  kinds: KindResolver;
  observer: Observer;
  clock: Clock;
}

/** One delivery: the kind as the member serves it, and the manifest in that version with the records of its owner. */
export interface Task {
  kind: AnyKind;
  manifest: Manifest;
  policy: ApplyPolicy;
  ownership: Ownership;
  signal: AbortSignal;
}

export function keyIn(
  { cluster }: Pick<MemberAccess, "cluster">,
  { namespace, name }: { namespace?: string | undefined; name: string },
): ObjectKey {
  return { cluster, namespace: namespace || undefined, name };
}

export function readObject(
  { client }: MemberAccess,
  kind: AnyKind,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Manifest | undefined> {
  return find(client, kind, key, { signal });
}

export async function observeObject(
  access: MemberAccess,
  { kind, manifest, policy, signal }: Task,
): Promise<Manifest | undefined> {
  const informer = access.observer.informer(kind);
  const key = keyIn(access, manifest.metadata);
  if (informer.synced || (policy.isFirst && policy.mode !== "read-only")) return informer.get(key);
  policy.beforeRequest?.();
  // After a hub restart a member may have thousands of our objects: one list reads them all.
  await untilListed(informer, access.clock, signal);
  return informer.synced ? informer.get(key) : readObject(access, kind, key, signal);
}

export async function resolveKind(
  { kinds }: MemberAccess,
  ref: { apiVersion: string; kind: string },
  { beforeRequest }: Pick<ApplyPolicy, "beforeRequest">,
): Promise<AnyKind> {
  const known = kinds.known(ref);
  if (known) return known;
  beforeRequest?.();
  return kinds.resolve(ref);
}
