/**
 * The ClusterClaims of members that the hub reaches: simulated members share one set of informers, others have their
 * own if they serve the kind.
 */
import { Cluster } from "@flotilla/karmada";
import { ClusterClaim } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Informer, Informers, Source } from "@flotilla/controller-runtime";

/** The ClusterClaims of members. */
export interface MemberClaims {
  /** Undefined while unknown. */
  of(cluster: string): readonly DeepReadonly<ClusterClaim>[] | undefined;
  /** Members whose claims changed. */
  source: Source<ObjectKey>;
}

export interface MemberClaimsOptions {
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  /** The informers of a member; undefined while it is not connected. */
  informersOf(cluster: string): Informers | undefined;
  /** The informers shared by all simulated members, which always serve the kind. */
  simulated?: Informers;
}

export function createMemberClaims({ hub, informers, informersOf, simulated }: MemberClaimsOptions): MemberClaims {
  const clusters = informers.of(Cluster);
  const listeners = new Set<(key: ObjectKey) => void>();
  const followed = new WeakSet<Informer<ClusterClaim>>();

  /** One informer for each set, followed from its first use; it ends with its connection. */
  function follow(members: Informers): Informer<ClusterClaim> {
    const claims = members.of(ClusterClaim);
    if (followed.has(claims)) return claims;
    followed.add(claims);
    claims.subscribe(({ cluster }) => {
      for (const notify of listeners) notify({ cluster: hub, name: cluster });
    });
    return claims;
  }

  /** A real cluster serves the kind once the CRD is installed. */
  function isServed(cluster: string): boolean {
    const { apiEnablements = [] } = clusters.get({ cluster: hub, name: cluster })?.status ?? {};
    return apiEnablements.some(
      ({ groupVersion, resources }) =>
        groupVersion === `${ClusterClaim.group}/${ClusterClaim.storageVersion}` &&
        resources?.some(({ kind }) => kind === ClusterClaim.kind),
    );
  }

  return {
    of(cluster) {
      const members = informersOf(cluster);
      if (!members) return undefined;
      if (members !== simulated && !isServed(cluster)) return [];
      const claims = follow(members);
      return claims.synced ? claims.list({ cluster }) : undefined;
    },
    source: {
      start(enqueue, signal) {
        const notify = (key: ObjectKey): void => enqueue(key);
        listeners.add(notify);
        signal.addEventListener("abort", () => listeners.delete(notify), { once: true });
      },
      isQuiet: () => true, // Events come straight from informers, which report their own quiescence.
    },
  };
}
