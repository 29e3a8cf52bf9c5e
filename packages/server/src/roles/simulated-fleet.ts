/**
 * The simulated members as the other parts reach them. Between the hub and the members lies a network that people can
 * cut. The members' own controllers and the agent of members that pull are on the members' side of it.
 */
import { HUB } from "@flotilla/apimachinery";
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { callLogicalCluster } from "@flotilla/apiserver";
import type { Clock, Log } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { flotillaUser } from "@flotilla/flotilla";
import type { Delivery, MemberSource } from "@flotilla/flotilla";
import type { Informers } from "@flotilla/controller-runtime";
import {
  callThroughNetwork,
  createDistantInformers,
  createMemberNetwork,
  throughAgentNetwork,
  throughNetwork,
} from "@flotilla/simulation";
import type { MemberNetwork } from "@flotilla/simulation";
import type { HubApiServer } from "./api-server.ts";
import type { HubAccess } from "./create-hub-access.ts";
import type { SimulatedClusters } from "./simulated-clusters.ts";
import { createSimulatedDeliveries } from "./simulated-deliveries.ts";
import { createSimulatedMembers } from "./simulated-members.ts";

export interface SimulatedFleetOptions {
  api: Pick<HubApiServer, "server" | "connect">;
  clusters: SimulatedClusters;
  access: Pick<HubAccess, "informers" | "memberInformers" | "writeThrough" | "events">;
  wrap?(transport: Transport, part: string): Transport;
  clock: Clock;
  log: Log;
}

export interface SimulatedFleet {
  network: MemberNetwork;
  /** The hub's side of the network. */
  fromHub: {
    members: MemberSource;
    informers: Informers;
    call(cluster: string, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse>;
  };
  /** The members' side of the network. */
  fromMembers: {
    /** A client of the hub for one part of an agent. */
    hubClientFor(part: string): Client;
    /** Undefined for a cluster that is not a simulated member. */
    deliveryTo(cluster: string): Delivery | undefined;
  };
}

export function createSimulatedFleet(options: SimulatedFleetOptions): SimulatedFleet {
  const { api, clusters, access, clock, log } = options;
  const { server } = api;
  const { isSimulated, isMember } = clusters;
  const { informers: hubInformers, memberInformers, writeThrough } = access;
  const transportOf = (part: string): Transport => {
    const transport = server.transport(flotillaUser(part));
    return options.wrap?.(transport, part) ?? transport;
  };

  const network = createMemberNetwork({
    hub: HUB,
    informers: hubInformers,
    isSimulated,
    events: access.events("simulation"),
    log,
  });
  const informers = createDistantInformers(memberInformers, network);
  const reach = (part: string, fieldManager: string): Client =>
    createClient({ transport: throughNetwork(transportOf(part), network), fieldManager });
  const call: SimulatedFleet["fromHub"]["call"] = callThroughNetwork(
    (cluster, request, signal) => callLogicalCluster(server.handle, cluster, request, signal),
    network,
  );
  const members = createSimulatedMembers({
    client: reach("system", "flotilla-system"),
    writer: writeThrough(reach("work", "flotilla-work")),
    informers,
    isMember,
    deliveries: createSimulatedDeliveries({
      client: writeThrough(reach("execute", "flotilla")),
      informers,
      isMember,
      isCut: network.isCut,
      clock,
    }),
    onNetwork: network.onChange,
    call,
  });
  const fromWithin = createSimulatedDeliveries({
    client: writeThrough(api.connect("execute", "flotilla")),
    informers: memberInformers,
    isMember,
    clock,
  });
  clusters.onForgotten((cluster) => {
    members.forget(cluster);
    fromWithin.forget(cluster);
  });
  return {
    network,
    fromHub: { members, informers, call },
    fromMembers: {
      hubClientFor: (part) =>
        createClient({
          transport: throughAgentNetwork(transportOf(part), network),
          fieldManager: `flotilla-${part}`,
        }),
      deliveryTo: fromWithin.of,
    },
  };
}
