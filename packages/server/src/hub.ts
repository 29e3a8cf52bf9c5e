/**
 * Composes the roles in one process: API server, hub controllers, member controllers, and the agent of members that
 * pull. No network and no files: `fleet.ts` adds those, and tests run this with a fake clock and a store in memory.
 */
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { callLogicalCluster } from "@flotilla/apiserver";
import type { ApiServer, Cache, Engine } from "@flotilla/apiserver";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { acceptMember, createClusterProxy, dryRunOver, flotillaUser, joinCluster } from "@flotilla/flotilla";
import type { ConnectMember, FailoverOptions, MembershipTimes, ScheduleOptions } from "@flotilla/flotilla";
import { createEventRecorders, createInformers, createWriteThroughClient } from "@flotilla/controller-runtime";
import type { Manager } from "@flotilla/controller-runtime";
import {
  callThroughNetwork,
  createDistantInformers,
  createMemberNetwork,
  throughAgentNetwork,
  throughNetwork,
} from "@flotilla/simulation";
import type { SimulationDependencies } from "@flotilla/simulation";
import { createHubApiServer } from "./roles/api-server.ts";
import type { HubExtensions } from "./roles/api-server.ts";
import { createHubControllers } from "./roles/hub-controllers.ts";
import { createHubMetrics } from "./roles/hub-metrics.ts";
import { createKarmadaLogs } from "./roles/karmada-logs.ts";
import { createMemberControllers } from "./roles/member-controllers.ts";
import { createOcmLogs } from "./roles/ocm-logs.ts";
import { checkPulling, createPullMembers } from "./roles/pull-members.ts";
import { createSimulatedDeliveries } from "./roles/simulated-deliveries.ts";
import { createSimulatedMembers } from "./roles/simulated-members.ts";
import type { FeatureGates } from "@flotilla/openkruise";

export interface HubOptions {
  engine: Engine;
  clock: Clock;
  random: Random;
  log: Log;
  kruise: "installed" | "none";
  /** OpenKruise's gates on the members; its defaults if unset. */
  kruiseGates?: FeatureGates;
  /** Simulated nodes per member; with 0 nothing runs there. */
  nodes: number;
  /** How long pods take to start, restart and stop, and how long a silent node counts as ready. */
  times?: SimulationDependencies["times"];
  /** How often members are checked, and how long until their condition changes; Karmada's defaults if unset. */
  membershipTimes?: Partial<MembershipTimes>;
  /**
   * Eviction settings for policies that set none, and whether ClusterTaintPolicies may set evicting taints; Karmada's
   * defaults if unset.
   */
  failover?: FailoverOptions & { allowNoExecuteTaintPolicy?: boolean };
  /** Scheduler options beyond Karmada's defaults. */
  scheduling?: ScheduleOptions;
  /** Simulated members that an agent serves instead of the hub, from when they join. */
  pull?: readonly string[] | "all";
  /** Connects to external members; over the network if unset. */
  connectMember?: ConnectMember;
  /**
   * Open Cluster Management agents that first authenticate as one of these users are accepted automatically; none if
   * unset.
   */
  autoApprovedUsers?: readonly string[];
  /** PEM of the CA that workloads use to trust this server; published in every namespace. */
  rootCertificate?: string;
  /**
   * PEM of the signing key for service account tokens, read on first use; if unset, a key for the lifetime of the
   * process.
   */
  signingKey?: () => Promise<string>;
  /** Signs client certificate requests; if unset, they are left to other signers. */
  authority?: Pick<CertificateAuthority, "signRequest">;
  /** A kubeconfig for an administrator of one logical cluster, served by the subresource of that name. */
  clusterKubeconfig?(cluster: string): Promise<string>;
  /** Wraps the in-process transport of every component, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  /** Called when the API server exists and before controllers connect to it, for example to serve it over HTTP. */
  onServer?(server: ApiServer): Promise<void>;
  /** Size of the store on disk; unset if it is in memory. */
  storeBytes?(): number;
  /** Whether the store accepts writes; yes if unset. */
  takesWrites?(): boolean;
  /** Called when the store fails permanently; everything that needs it fails from then on. */
  onFailure?(error: Error): void;
  /** Freezes shared objects, so that a test fails where they are modified. */
  freeze?: boolean;
}

export interface Hub {
  server: ApiServer;
  cache: Cache;
  /** A controller's client: it may do everything, and admission skips checks and warnings meant for users. */
  client: Client;
  managers: readonly Manager[];
  /** Whether an annotation disconnects this simulated member from the hub. */
  isCut(cluster: string): boolean;
  /** Nothing is in flight; pending timers do not count. */
  isQuiet(): boolean;
  /** Starts the controllers; resolves when they have synced. */
  start(signal: AbortSignal): Promise<void>;
  /** Adds simulated members, or finds existing ones; resolves with all members when they exist and have joined. */
  addMembers(names: readonly string[], endpointOf: (name: string) => string, signal: AbortSignal): Promise<string[]>;
  stop(): Promise<void>;
}

export async function createHub(options: HubOptions): Promise<Hub> {
  const { clock, random, log, kruise, nodes } = options;
  const wrap = options.wrap ?? ((transport: Transport) => transport);
  const karmadaLogs = createKarmadaLogs(clock);
  const ocmLogs = createOcmLogs(clock);
  const extensions: HubExtensions = {};
  const api = await createHubApiServer({
    ...options,
    extensions,
    allowNoExecuteTaintPolicy: options.failover?.allowNoExecuteTaintPolicy,
  });
  const { server, cache, clusters, connect, hasKruise } = api;
  const { isSimulated, isMember } = clusters;
  await options.onServer?.(server);

  // One set of informers and controllers serves all simulated members: their keys include the cluster.
  const client = connect("system", "flotilla-system");
  const hubInformers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
  const memberInformers = createInformers({ client, clock, random, log, scope: { cluster: "*", where: isSimulated } });
  // Controllers read their own writes: the response to a write goes straight into the informers.
  const writeThrough = (plain: Client): Client => createWriteThroughClient(plain, [hubInformers, memberInformers]);
  const clientFor = (part: string): Client => writeThrough(connect(part, `flotilla-${part}`));
  const events = createEventRecorders({ client: clientFor("events"), clock, log });

  // Between the hub and simulated members lies a network that people can cut. The members' own controllers and the
  // agent of members that pull are on the members' side of it.
  const network = createMemberNetwork({
    hub: HUB,
    informers: hubInformers,
    isSimulated,
    events: events.recorders("simulation"),
    log,
  });
  const distantInformers = createDistantInformers(memberInformers, network);
  const reach = (part: string, fieldManager: string): Client =>
    createClient({
      transport: throughNetwork(wrap(server.transport(flotillaUser(part)), part), network),
      fieldManager,
    });
  const call: Parameters<typeof createSimulatedMembers>[0]["call"] = callThroughNetwork(
    (cluster, request, signal) => callLogicalCluster(server.handle, cluster, request, signal),
    network,
  );
  const simulated = createSimulatedMembers({
    client: reach("system", "flotilla-system"),
    writer: writeThrough(reach("work", "flotilla-work")),
    informers: distantInformers,
    isMember,
    deliveries: createSimulatedDeliveries({
      client: writeThrough(reach("execute", "flotilla")),
      informers: distantInformers,
      isMember,
      isCut: network.isCut,
      clock,
    }),
    call,
  });
  const fromWithin = createSimulatedDeliveries({
    client: writeThrough(connect("execute", "flotilla")),
    informers: memberInformers,
    isMember,
    clock,
  });
  clusters.onForgotten((cluster) => {
    simulated.forget(cluster);
    fromWithin.forget(cluster);
  });

  const controllers = await createHubControllers({
    hub: HUB,
    clientFor,
    informers: hubInformers,
    events: events.recorders,
    simulated: { ...simulated, simulated: distantInformers },
    hasBuiltInAgent: isMember,
    connectMember: options.connectMember,
    wrap,
    membershipTimes: options.membershipTimes,
    failover: options.failover,
    scheduling: options.scheduling,
    autoApprovedUsers: options.autoApprovedUsers,
    clock,
    random,
    log: karmadaLogs.keep(ocmLogs.keep(log.with({ component: "hub" }))),
  });
  const members = createMemberControllers({
    gates: options.kruiseGates,
    times: options.times,
    clusters: server,
    client: clientFor("member"),
    informers: memberInformers,
    clock,
    random,
    log: log.with({ component: "members" }),
    events: events.recorders,
    haveNodes: nodes > 0,
    hasKruise,
  });
  const agentWriter = clientFor("work");
  const pull = createPullMembers({
    hub: HUB,
    informers: hubInformers,
    clientFor: (part) =>
      createClient({
        transport: throughAgentNetwork(wrap(server.transport(flotillaUser(part)), part), network),
        fieldManager: `flotilla-${part}`,
      }),
    simulated: {
      client,
      informers: memberInformers,
      isMember,
      memberFor(name) {
        const delivery = fromWithin.of(name);
        return (
          delivery && {
            delivery: controllers.measured(name, delivery),
            client: agentWriter,
            cluster: name,
            dryRunAs: dryRunOver(agentWriter, name),
          }
        );
      },
    },
    origin: controllers.origin,
    times: options.membershipTimes,
    clock,
    random,
    log: ocmLogs.keep(log),
  });
  const managers: readonly Manager[] = [controllers.manager, members.manager, api.manager];
  const metrics = createHubMetrics({
    hub: HUB,
    controllers,
    server,
    cache,
    storeBytes: options.storeBytes,
    informers: hubInformers,
    memberInformers,
    isSimulated,
    managers: () => [...managers, ...pull.managers()],
    lanes: () => [...controllers.lanes(), ...pull.lanes()],
  });

  const memberRuntime = ocmLogs.around(members.simulation.runtime);
  server.onClusterGone((cluster) => ocmLogs.forget(cluster));
  Object.assign(extensions, {
    clusterProxy: createClusterProxy({
      hub: HUB,
      clusters: hubInformers.of(Cluster),
      members: controllers.members,
      askHub: (request, signal) => call(HUB, request, signal),
      clock,
    }),
    explanation: (namespace, name) => controllers.explainer.get(namespace, name),
    podMetrics: members.simulation.metrics,
    runtimeOf(cluster) {
      // The hub runs nothing but the components in this process that its pods represent.
      if (cluster === HUB)
        return {
          hasNodes: false,
          logs: (target) => karmadaLogs.hubRuntime.logs(target) ?? ocmLogs.hubRuntime.logs(target),
        };
      return nodes > 0 && isSimulated(cluster) && !server.isManagedElsewhere(cluster) ? memberRuntime : undefined;
    },
    controllers: {
      writeMetrics: (text) => metrics.write(text),
      // The agent of members whose network is cut fails on purpose.
      problems: () =>
        [...managers, ...(network.hasCuts() ? [] : pull.managers())].flatMap((manager) => manager.problems()),
    },
    workloads: metrics.workloads,
  } satisfies HubExtensions);

  const pulls = (name: string): boolean => options.pull === "all" || (options.pull?.includes(name) ?? false);

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

  return {
    server,
    cache,
    client,
    get managers() {
      return [...managers, ...pull.managers()];
    },
    isCut: network.isCut,
    isQuiet: () => server.isQuiet() && controllers.isQuiet() && events.isQuiet() && pull.isQuiet(),
    async start(signal) {
      metrics.start(signal);
      api.manager.start(signal);
      members.manager.start(signal);
      await controllers.start(signal);
      await Promise.all(managers.map((manager) => manager.whenSynced(signal)));
      pull.start(signal);
    },
    async addMembers(names, endpointOf, signal) {
      // Logical clusters that users created through the API have not joined and are not members.
      const { items: joined } = await client.list(Cluster, { cluster: HUB, signal });
      const known = joined.map(({ metadata }) => metadata.name).filter(isMember);
      const all = [...new Set([...known, ...names])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      if (options.pull) checkPulling(options.pull, all, joined);
      for (const name of all) {
        // A requested member must match the options; an earlier member that is not requested stays unchanged.
        if (names.includes(name)) await addCluster(name);
        if (nodes > 0) await members.simulation.ensureNodes(name, nodes, {}, signal);
        await joinCluster(
          client,
          HUB,
          { name, apiEndpoint: endpointOf(name), id: name, syncMode: pulls(name) ? "Pull" : undefined },
          signal,
        );
        if (pulls(name)) await acceptMember(client, HUB, name, signal);
      }
      return all;
    },
    async stop() {
      await Promise.all([controllers.manager.stop(), members.manager.stop(), api.manager.stop(), pull.stop()]);
      await events.stop();
      await controllers.stop();
      hubInformers.close();
      memberInformers.close();
      await api.close();
    },
  };
}
