/**
 * The way of an agent's requests to its hub. One agent serves all simulated members that pull, over one connection; of
 * a member that is cut off it hears nothing and can say nothing, and goes on with the others.
 */
import { Cluster, clusterNameOf, Lease, ManagedCluster } from "../../api/index.ts";
import type { Transport, TransportWatchEvent } from "../../client/index.ts";
import { expired } from "../../machinery/index.ts";
import { cutOff } from "./hub-to-members.ts";
import type { MemberNetwork } from "./member-network.ts";

interface Place {
  resource: string;
  namespace?: string | undefined;
  name?: string | undefined;
}

export function throughAgentNetwork(transport: Transport, network: MemberNetwork): Transport {
  /** The member that is cut off and that an object of the hub is about. */
  const lostMember = (place: Place): string | undefined => membersOf(place).find((member) => network.isCut(member));
  const isLost = (resource: string, { type, object }: TransportWatchEvent): boolean => {
    const { namespace, name } = (object["metadata"] ?? {}) as { namespace?: string; name?: string };
    return type !== "BOOKMARK" && lostMember({ resource, namespace, name }) !== undefined;
  };
  return {
    async send(request, signal) {
      const member = lostMember(request.path);
      if (member !== undefined) throw cutOff(member);
      return transport.send(request, signal);
    },
    async *watch(request, signal) {
      const { resource } = request.path;
      const returned = new AbortController();
      const stop = network.onChange((_member, isCut) => {
        if (!isCut) returned.abort();
      });
      try {
        for await (const batch of transport.watch(request, AbortSignal.any([signal, returned.signal])))
          yield batch.filter((event) => !isLost(resource, event));
      } finally {
        stop();
      }
      // What a member that is back missed was left out of the history that was read: everything is listed again.
      if (returned.signal.aborted && !signal.aborted)
        throw expired("a member is back: its part of the history was not heard");
    },
    raw: (request, signal) => transport.raw(request, signal),
    close: () => transport.close(),
  };
}

/** Whom an object of the hub may be about. Rules for kinds and the like are everybody's. */
function membersOf({ resource, namespace, name }: Place): readonly string[] {
  if (namespace === undefined)
    return name !== undefined && (resource === Cluster.plural || resource === ManagedCluster.plural) ? [name] : [];
  const worksOf = clusterNameOf(namespace);
  if (worksOf !== undefined) return [worksOf];
  // Karmada keeps the Leases of all members in one namespace; Open Cluster Management's members have their own.
  return resource === Lease.plural && name !== undefined ? [namespace, name] : [namespace];
}
