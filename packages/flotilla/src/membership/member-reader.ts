/** Reads single objects of members for explanations. A member that does not answer soon is not waited for. */
import type { Cluster } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Lister } from "@flotilla/controller-runtime";
import { connectionOf } from "./member.ts";
import type { MemberSource } from "./member.ts";

type AnyObject = DeepReadonly<KubernetesObject>;

/** Undefined when the member does not have the object, or it cannot be read now. */
export type MemberReader = (cluster: string, object: AnyObject) => Promise<AnyObject | undefined>;

/** A healthy member answers in a fraction of this. */
const TIMEOUT_MS = 2_000;

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
  return async (name, { apiVersion, kind, metadata }) => {
    const cluster = clusters.get({ cluster: hub, name });
    const found = cluster && connectionOf(members.find(cluster));
    // The agent of a member that pulls reads its objects; the hub may not reach it.
    if (!found?.delivery) return undefined;
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () => timeout.abort());
    try {
      const served = await found.delivery.kindOf({ apiVersion, kind }, {});
      const key = { cluster: name, namespace: metadata.namespace || undefined, name: metadata.name };
      return await find(found.client, served, key, { signal: timeout.signal });
    } catch {
      // An edge: the explanation reports what members last said, and that one is not reachable, from their status.
      return undefined;
    } finally {
      timer.cancel();
    }
  };
}
