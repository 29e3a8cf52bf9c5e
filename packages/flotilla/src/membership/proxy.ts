/**
 * The proxy of a Cluster: requests to the API of a member through the hub, sent as the user who asks the hub.
 */
import { Cluster } from "@flotilla/karmada";
import type { ConnectHandler } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { internalError, notFound } from "@flotilla/apimachinery";
import type { Lister } from "@flotilla/controller-runtime";
import { createAllClustersProxy } from "./all-clusters-proxy.ts";
import { connectionOf } from "./member.ts";
import type { MemberSource } from "./member.ts";

export interface ClusterProxyDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  members: Pick<MemberSource, "find">;
  /** Answers for the hub itself, as the user who asks. */
  askHub: ConnectHandler;
  clock: Clock;
}

/** The Cluster name that means all clusters. */
const ALL = "*";

export function createClusterProxy(deps: ClusterProxyDependencies): ConnectHandler {
  const { hub, clusters, members, askHub, clock } = deps;
  const one: ConnectHandler = async (request, signal) => {
    const cluster = clusters.get({ cluster: hub, name: request.name });
    if (!cluster) throw notFound({ group: Cluster.group, resource: Cluster.plural }, request.name);
    const found = members.find(cluster);
    const member = connectionOf(found);
    if (!member || (found && "problem" in found))
      throw internalError(found && "problem" in found ? found.problem : `cluster ${request.name} is not connected`);
    return member.call(request, signal);
  };
  const all = createAllClustersProxy({ clusters: () => clusters.list({ cluster: hub }), ask: one, askHub, clock });
  return (request, signal) => (request.name === ALL ? all(request, signal) : one(request, signal));
}
