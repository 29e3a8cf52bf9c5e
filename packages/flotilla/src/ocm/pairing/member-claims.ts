/**
 * The ClusterClaims of members that the hub reaches: some share one set of informers, others have their own if they
 * serve the kind.
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
  members: {
    /** The informers of a member; undefined while it is not connected. */
    informersOf(cluster: string): Informers | undefined;
    /** The informers that members share which always serve the kind. */
    sharedInformers?: Informers | undefined;
  };
}

export function createMemberClaims({ hub, informers, members }: MemberClaimsOptions): MemberClaims {
  const clusters = informers.of(Cluster);
  const listeners = new Set<(key: ObjectKey) => void>();
  const followed = new WeakSet<Informer<ClusterClaim>>();

  /** One informer for each set, followed from its first use; it ends with its connection. */
  function follow(informersOfMember: Informers): Informer<ClusterClaim> {
    const claims = informersOfMember.of(ClusterClaim);
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
      const theirs = members.informersOf(cluster);
      if (!theirs) return undefined;
      if (theirs !== members.sharedInformers && !isServed(cluster)) return [];
      const claims = follow(theirs);
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
