/** Adds simulated members to a running hub: a logical cluster with nodes that has joined. */
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import type { ApiServer } from "@flotilla/apiserver";
import { FlotillaError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { acceptMember, joinCluster } from "@flotilla/flotilla";
import type { Simulation } from "@flotilla/simulation";
import { checkPulling } from "./pull-members.ts";

export interface AddMembersOptions {
  server: Pick<ApiServer, "addCluster">;
  client: Client;
  isMember(cluster: string): boolean;
  simulation: Pick<Simulation, "ensureNodes">;
  kruise: "installed" | "none";
  /** Simulated nodes per member. */
  nodes: number;
  /** Members that an agent serves, from when they join. */
  pull?: readonly string[] | "all";
}

/** Adds simulated members, or finds existing ones; resolves with all members when they exist and have joined. */
export type AddMembers = (
  names: readonly string[],
  endpointOf: (name: string) => string,
  signal: AbortSignal,
) => Promise<string[]>;

export function createAddMembers(options: AddMembersOptions): AddMembers {
  const { server, client, isMember, simulation, kruise, nodes, pull } = options;
  const pulls = (name: string): boolean => pull === "all" || (pull?.includes(name) ?? false);

  async function addCluster(name: string): Promise<void> {
    try {
      await server.addCluster(name, kruise === "installed" ? "member" : "member-bare");
    } catch (error) {
      const had = kruise === "installed" ? "without" : "with";
      throw new FlotillaError(
        "Cluster",
        `${name} was created ${had} OpenKruise in this data directory; start it with the same --kruise value, or choose another directory with --data DIR`,
        { cause: error },
      );
    }
  }

  return async (names, endpointOf, signal) => {
    // Logical clusters that users created through the API have not joined and are not members.
    const { items: joined } = await client.list(Cluster, { cluster: HUB, signal });
    const known = joined.map(({ metadata }) => metadata.name).filter(isMember);
    const all = [...new Set([...known, ...names])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (pull) checkPulling(pull, all, joined);
    for (const name of all) {
      // A requested member must match the options; an earlier member that is not requested stays unchanged.
      if (names.includes(name)) await addCluster(name);
      if (nodes > 0) await simulation.ensureNodes(name, nodes, {}, signal);
      await joinCluster(
        client,
        HUB,
        { name, apiEndpoint: endpointOf(name), id: name, syncMode: pulls(name) ? "Pull" : undefined },
        signal,
      );
      if (pulls(name)) await acceptMember(client, HUB, name, signal);
    }
    return all;
  };
}
