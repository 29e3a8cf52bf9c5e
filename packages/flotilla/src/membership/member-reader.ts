/** Reads objects of members for explanations. A member that does not answer soon is not waited for. */
import type { Cluster } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Lister } from "@flotilla/controller-runtime";
import { connectionOf } from "./member.ts";
import type { MemberSource } from "./member.ts";

type AnyObject = DeepReadonly<KubernetesObject>;

export interface MemberReader {
  /** Undefined when the member does not have the object, or it cannot be read now. */
  get(cluster: string, object: AnyObject): Promise<AnyObject | undefined>;
  /** Empty when the member has none, or they cannot be read now. Of one namespace, if it is given. */
  list<T extends KubernetesObject>(
    cluster: string,
    kind: Kind<T>,
    namespace?: string,
  ): Promise<readonly DeepReadonly<T>[]>;
}

/** A healthy member answers in a fraction of this. */
const TIMEOUT_MS = 2_000;
/** More are not looked at. */
const MAX_LISTED = 500;

export function createMemberReader({
  hub,
  clusters,
  members,
  clock,
}: {
  hub: string;
  clusters: Pick<Lister<Cluster>, "get">;
  members: Pick<MemberSource, "find">;
  clock: Clock;
}): MemberReader {
  async function ask<T>(
    name: string,
    question: (member: Reached, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const cluster = clusters.get({ cluster: hub, name });
    const found = cluster && connectionOf(members.find(cluster));
    // The agent of a member that pulls reads its objects; the hub may not reach it.
    if (!found?.delivery) return undefined;
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () => timeout.abort());
    try {
      return await question({ client: found.client, delivery: found.delivery }, timeout.signal);
    } catch {
      // An edge: the explanation reports what members last said, and that one is not reachable, from their status.
      return undefined;
    } finally {
      timer.cancel();
    }
  }
  return {
    get: (cluster, { apiVersion, kind, metadata }) =>
      ask(cluster, async ({ client, delivery }, signal) => {
        const served = await delivery.kindOf({ apiVersion, kind }, {});
        const key = { cluster, namespace: metadata.namespace || undefined, name: metadata.name };
        return find(client, served, key, { signal });
      }),
    list: async (cluster, kind, namespace) =>
      (await ask(cluster, async ({ client }, signal) => {
        const { items } = await client.list(kind, { cluster, namespace, limit: MAX_LISTED, signal });
        return items;
      })) ?? [],
  };
}

type Connection = NonNullable<ReturnType<typeof connectionOf>>;
type Reached = { client: Connection["client"]; delivery: NonNullable<Connection["delivery"]> };
