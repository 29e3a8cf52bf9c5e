/**
 * Requests from an agent to its hub. One agent serves all simulated pull-mode members over one connection; for a member
 * that is cut off it receives and sends nothing, and continues with the others.
 */
import { Cluster, clusterNameOf } from "@flotilla/karmada";
import { expired } from "@flotilla/apimachinery";
import { Lease } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import type { Transport, TransportWatchEvent } from "@flotilla/client";
import { cutOff } from "./hub-to-members.ts";
import type { MemberNetwork } from "./member-network.ts";

interface Place {
  resource: string;
  namespace?: string | undefined;
  name?: string | undefined;
}

export function throughAgentNetwork(transport: Transport, network: MemberNetwork): Transport {
  /** The disconnected member that an object of the hub belongs to. */
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
      // The watched history omitted changes for the member that is back: the watch expires, so that everything is
      // listed again.
      if (returned.signal.aborted && !signal.aborted)
        throw expired("a member is back and its changes were not delivered");
    },
    raw: (request, signal) => transport.raw(request, signal),
    close: () => transport.close(),
  };
}

/** The members that an object of the hub may belong to. Cluster-scoped configuration belongs to none. */
function membersOf({ resource, namespace, name }: Place): readonly string[] {
  if (namespace === undefined)
    return name !== undefined && (resource === Cluster.plural || resource === ManagedCluster.plural) ? [name] : [];
  const worksOf = clusterNameOf(namespace);
  if (worksOf !== undefined) return [worksOf];
  // Karmada keeps the Leases of all members in one namespace; members of Open Cluster Management have one namespace
  // each.
  return resource === Lease.plural && name !== undefined ? [namespace, name] : [namespace];
}
