/**
 * Simulated members as the hub reaches them: logical clusters of an API server, behind a network that people can cut.
 * One client and one set of informers serve all of them; their keys carry the cluster.
 */
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import type { Member, MemberSource } from "@flotilla/flotilla";
import type { Informers } from "@flotilla/controller-runtime";
import type { SimulatedDeliveries } from "./simulated-deliveries.ts";

export interface SimulatedMembersOptions {
  client: Client;
  writer: Client;
  informers: Informers;
  isMember(cluster: string): boolean;
  deliveries: SimulatedDeliveries;
  /** Notifies about members that are cut off from the hub, or back. */
  onNetwork(listener: (cluster: string, isCut: boolean) => void): () => void;
  call(cluster: string, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse>;
}

export interface SimulatedMembers extends MemberSource {
  forget(cluster: string): void;
}

export function createSimulatedMembers(options: SimulatedMembersOptions): SimulatedMembers {
  const { client, writer, informers, isMember, deliveries, onNetwork, call } = options;
  const members = new Map<string, Member>();

  function open(name: string): Member {
    return {
      name,
      client,
      informers,
      delivery: deliveries.of(name),
      writer,
      call: (request, signal) => call(name, request, signal),
      reportsKinds: true,
      hasBuiltInAgent: true,
    };
  }

  return {
    sharedInformers: informers,
    find({ metadata: { name }, spec }) {
      // A Cluster with credentials is reached with them, also when a logical cluster has the same name.
      if (spec.secretRef !== undefined || !isMember(name)) return undefined;
      let member = members.get(name);
      if (!member) members.set(name, (member = open(name)));
      return member;
    },
    listen({ served, opened, suspected }) {
      const stops = [
        opened(informers),
        // Its kinds may have changed while it was away.
        onNetwork((cluster, isCut) => (isCut ? suspected(cluster) : served(cluster))),
        informers.of(CustomResourceDefinition).subscribe(({ cluster }) => served(cluster)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    forget(cluster) {
      members.delete(cluster);
      deliveries.forget(cluster);
    },
    async close() {},
  };
}
