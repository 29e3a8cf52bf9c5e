/**
 * Puts a hub with simulated members together in this process: API server, controllers, members. No network and no
 * files: `fleet.ts` adds those, and tests run this with a fake clock and a store in memory.
 */
import { hash } from "node:crypto";
import {
  Cluster,
  createBuiltInAdmissions,
  decodeProtobuf,
  FLOTILLA_GROUP,
  flotillaUser,
  kruiseKinds,
  logicalClusterAdmission,
  Namespace,
  ManagedCluster,
} from "../api/index.ts";
import { FlotillaError, formatTime } from "../base/index.ts";
import type { Clock, Log, Random } from "../base/index.ts";
import { callLogicalCluster, createApiServer, HUB } from "../apiserver/index.ts";
import type { ApiServer, CertificateAuthority } from "../apiserver/index.ts";
import { VERSION } from "../cli/index.ts";
import { createClient } from "../client/index.ts";
import type { Client, Transport } from "../client/index.ts";
import type { Delivery } from "../delivery/index.ts";
import { createExplainer, createLastDecisions, createOcmExplainer } from "../explain/index.ts";
import { createConfiguredInterpreter, interpreterAdmissions } from "../interpreter/index.ts";
import {
  createMembership,
  createMembershipAdmissions,
  acceptMember,
  farewellOf,
  joinCluster,
} from "../membership/index.ts";
import type { ConnectMember, MembershipTimes } from "../membership/index.ts";
import { createMonitoring } from "../monitoring/index.ts";
import { createOcm, dryRunOver } from "../ocm/index.ts";
import type { WorkMember } from "../ocm/index.ts";
import { createPropagation, matchesAffinity } from "../propagation/index.ts";
import type { FailoverOptions, ScheduleOptions } from "../propagation/index.ts";
import { createEventRecorders, createInformers, createManager, createWriteThroughClient } from "../runtime/index.ts";
import type { Manager } from "../runtime/index.ts";
import {
  callThroughNetwork,
  createDistantInformers,
  createMemberNetwork,
  throughAgentNetwork,
  throughNetwork,
} from "../simulation/index.ts";
import type { SimulationDependencies } from "../simulation/index.ts";
import { createCache, StoreError } from "../store/index.ts";
import type { Cache, Engine } from "../store/index.ts";
import { createSystemControllers } from "../system/index.ts";
import { createKruiseAdmissions } from "../workloads/index.ts";
import type { FeatureGates } from "../workloads/index.ts";
import { createKarmadaLogs } from "./karmada-logs.ts";
import { createHubMetrics } from "./hub-metrics.ts";
import { createMembers } from "./members.ts";
import { createOcmLogs } from "./ocm-logs.ts";
import { createProfiles } from "./profiles.ts";
import { checkPulling, createPullMembers } from "./pull-members.ts";
import { createSimulatedClusters } from "./simulated-clusters.ts";
import { createSimulatedDeliveries } from "./simulated-deliveries.ts";

export { HUB };
export interface HubOptions {
  engine: Engine;
  clock: Clock;
  random: Random;
  log: Log;
  kruise: "installed" | "none";
  /** Of OpenKruise on the members; unset means its defaults. */
  kruiseGates?: FeatureGates;
  /** Simulated nodes per member; with 0 nothing runs there. */
  nodes: number;
  /** How long pods take to start, restart and stop, and how long a silent node is believed. */
  times?: SimulationDependencies["times"];
  /**
   * How often members are looked at, and how long it takes to change the mind about one; unset means Karmada's
   * defaults.
   */
  membershipTimes?: Partial<MembershipTimes>;
  /**
   * What no policy says about leaving members, and whether ClusterTaintPolicies may set taints that evict; unset means
   * Karmada's defaults.
   */
  failover?: FailoverOptions & { allowNoExecuteTaintPolicy?: boolean };
  /** What the scheduler is asked to do beyond its defaults, which are Karmada's. */
  scheduling?: ScheduleOptions;
  /** Simulated members that are served by an agent instead of being reached by the hub, from when they join. */
  pull?: readonly string[] | "all";
  /** How members outside of this process are reached; unset is over the network. */
  connectMember?: ConnectMember;
  /**
   * Agents of Open Cluster Management that first sign in as one of these users are let in without anybody looking;
   * unset is nobody.
   */
  autoApprovedUsers?: readonly string[];
  /** PEM; how workloads know that they talk to this server. Every namespace has it. */
  rootCertificate?: string;
  /**
   * PEM of the key for service account tokens, when it is first needed; unset makes one that lives as long as the
   * process.
   */
  signingKey?: () => Promise<string>;
  /** Signs requests for client certificates; unset leaves them to others. */
  authority?: Pick<CertificateAuthority, "signRequest">;
  /** A kubeconfig for an administrator of one logical cluster, as the subresource of that name serves it. */
  clusterKubeconfig?(cluster: string): Promise<string>;
  /** Wraps the in-process transport of every part, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  /** Size of the store on disk; unset where it is in memory. */
  storeBytes?(): number;
  /** Whether the store takes writes; unset is yes. */
  takesWrites?(): boolean;
  /** Told when the store cannot go on; everything that needs it fails from then on. */
  onFailure?(error: Error): void;
  /** Freezes what readers share, so that a test fails where somebody changes it. */
  freeze?: boolean;
}

export interface Hub {
  server: ApiServer;
  cache: Cache;
  /** An administrator's client. */
  client: Client;
  managers: readonly Manager[];
  /** Whether an annotation cuts this simulated member off from the hub. */
  isCut(cluster: string): boolean;
  /** Nothing is on its way anywhere; what waits for the clock does not count. */
  isQuiet(): boolean;
  /** Starts the controllers; resolves when they have seen everything that is stored. */
  start(signal: AbortSignal): Promise<void>;
  /** Adds simulated members, or finds them again; resolves when they exist and have joined, with all that there are. */
  addMembers(names: readonly string[], endpointOf: (name: string) => string, signal: AbortSignal): Promise<string[]>;
  stop(): Promise<void>;
}

export async function createHub(options: HubOptions): Promise<Hub> {
  const {
    engine,
    clock,
    random,
    log,
    kruise,
    nodes,
    authority,
    rootCertificate = "",
    wrap = (transport) => transport,
    freeze = false,
  } = options;
  const gates = options.kruiseGates ? { gates: options.kruiseGates } : {};
  // On a member that was made without OpenKruise it works as soon as one of its kinds is there, whichever that is.
  const hasKruise = (cluster: string): boolean =>
    isSimulated(cluster) && kruiseKinds.some(({ group, plural }) => server.serves(cluster, group, plural));
  const cache = await createCache(engine, {
    onError(error) {
      log.error("store failed", { error });
      if (error instanceof StoreError) options.onFailure?.(error);
    },
  });
  const karmadaLogs = createKarmadaLogs(clock);
  const ocmLogs = createOcmLogs(clock);
  // Nothing runs on the hub but the parts of this process that its pods stand for.
  const hubRuntime: typeof ocmLogs.hubRuntime = {
    hasNodes: false,
    logs: (target) => karmadaLogs.hubRuntime.logs(target) ?? ocmLogs.hubRuntime.logs(target),
  };
  const profiles = createProfiles({
    rootCertificate,
    startedOn: formatTime(clock.now()).slice(0, "2024-05-01".length),
    nodes,
    nowMs: clock.now(),
    metrics: nodes > 0 ? () => simulation.metrics : undefined,
    clusterKubeconfig: options.clusterKubeconfig,
    clusterProxy: (request, signal) => membership.proxy(request, signal),
    explanation: (namespace, name) => explainer.get(namespace, name),
  });
  const server = await createApiServer({
    cache,
    controllerGroup: FLOTILLA_GROUP,
    clock,
    random,
    log,
    admissions: [
      ...createBuiltInAdmissions(options.kruiseGates, {
        allowNoExecute: options.failover?.allowNoExecuteTaintPolicy ?? false,
      }),
      ...createMembershipAdmissions({ hub: HUB, clock }),
      ...interpreterAdmissions,
      ...createKruiseAdmissions({
        ...gates,
        appliesTo: hasKruise,
        nowMs: () => clock.now(),
        tell: (component, cluster, pod, event) => events.recorders(component).record(cluster, pod, event),
      }),
      logicalClusterAdmission(Object.keys(profiles).filter((name) => name !== "hub")),
    ],
    decodeProtobuf,
    profiles,
    serviceAccounts: options.signingKey ? { signingKey: options.signingKey } : undefined,
    freeze,
    // The managers are put together below, like the members; nobody asks before.
    controllers: {
      writeMetrics: (text) => metrics.write(text),
      // The agent of members that somebody cut off fails on purpose.
      problems: () =>
        [...managers, ...(network.hasCuts() ? [] : pull.managers())].flatMap((manager) => manager.problems()),
    },
    takesWrites: options.takesWrites,
    workloads: {
      write: (text, cluster) => metrics.workloads.write(text, cluster),
      page: (only) => metrics.workloads.page(only),
    },
    // Who runs the members is put together below; nobody asks before.
    connect: {
      runtimeOf: (cluster) =>
        cluster === HUB
          ? hubRuntime
          : nodes > 0 && isSimulated(cluster) && !server.isManagedElsewhere(cluster)
            ? memberRuntime
            : undefined,
    },
  });
  await server.addCluster(HUB, "hub");

  const connect = (part: string, fieldManager: string): Client =>
    createClient({ transport: wrap(server.transport(flotillaUser(part)), part), fieldManager });
  const client = connect("system", "flotilla-system");
  const hubInformers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
  const { isSimulated, isMember } = createSimulatedClusters(server, (cluster) => {
    overNetwork.forget(cluster);
    fromWithin.forget(cluster);
  });
  // One set of informers and controllers serves all simulated members: their keys carry the cluster.
  const memberInformers = createInformers({ client, clock, random, log, scope: { cluster: "*", where: isSimulated } });

  // Controllers read their own writes: what a client is answered goes straight into the informers.
  const writeThrough = (plain: Client): Client => createWriteThroughClient(plain, [hubInformers, memberInformers]);
  const clientFor = (part: string): Client => writeThrough(connect(part, `flotilla-${part}`));
  const events = createEventRecorders({ client: clientFor("events"), clock, log });
  // Between the hub and simulated members there is a network that people cut. Members' own controllers and the agent of
  // those that pull are on the other side of it.
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
  const overNetwork = createSimulatedDeliveries({
    client: writeThrough(reach("execute", "flotilla")),
    informers: distantInformers,
    isMember,
    isCut: network.isCut,
    clock,
  });
  const fromWithin = createSimulatedDeliveries({
    client: writeThrough(connect("execute", "flotilla")),
    informers: memberInformers,
    isMember,
    clock,
  });

  // Every cluster has these, the hub too. Their writes carry the name under which Kubernetes' own controllers write.
  const systemClient = connect("system-controllers", "kube-controller-manager");
  const systemInformers = createInformers({ client: systemClient, clock, random, log, scope: { cluster: "*" } });
  const systemManager = createManager({
    client: systemClient,
    informers: systemInformers,
    clock,
    log: log.with({ component: "system" }),
  });
  systemManager.add(
    ...createSystemControllers({
      client: systemClient,
      informers: systemInformers,
      clock,
      log,
      home: HUB,
      rootCertificate,
      issueSecretToken: server.issueSecretToken,
      isManagedElsewhere: server.isManagedElsewhere,
      signRequest: authority
        ? (cluster, request, terms) => authority.signRequest(request, { ...terms, cluster: server.clusterId(cluster) })
        : undefined,
    }),
  );

  const hubManager = createManager({
    client,
    informers: hubInformers,
    clock,
    log: karmadaLogs.keep(ocmLogs.keep(log.with({ component: "hub" }))),
  });
  const configured = createConfiguredInterpreter({
    hub: HUB,
    informers: hubInformers,
    clock,
    random,
    log,
    tell: (customization, reason, message) =>
      events.recorders("flotilla-interpreter").record(HUB, customization, { type: "Warning", reason, message }),
  });
  const monitoring = createMonitoring({ hub: HUB, version: VERSION, informers: hubInformers, clock });
  const membership = createMembership({
    hub: HUB,
    informers: hubInformers,
    clientFor,
    simulated: {
      client: reach("system", "flotilla-system"),
      informers: distantInformers,
      isMember,
      deliveryFor: overNetwork.of,
      call: callThroughNetwork(
        (cluster, request, signal) => callLogicalCluster(server.handle, cluster, request, signal),
        network,
      ),
    },
    isHeld: (cluster) => hubInformers.of(ManagedCluster).get({ cluster: HUB, name: cluster }) !== undefined,
    matchesAffinity,
    events: events.recorders,
    clock,
    random,
    log,
    wrap,
    measure: monitoring.requests.around,
    times: options.membershipTimes,
    connectMember: options.connectMember,
  });
  const measured = (name: string, delivery: Delivery | undefined): Delivery | undefined =>
    delivery && monitoring.deliveries.around(name, delivery);
  const deliveryFor = (name: string): Delivery | undefined => measured(name, membership.deliveryFor(name));
  const decisions = createLastDecisions(clock);
  const propagation = createPropagation({
    hub: HUB,
    informers: hubInformers,
    clientFor,
    deliveryFor,
    serves: membership.serves,
    interpreter: configured.interpreter,
    events: events.recorders,
    clock,
    random,
    log,
    failover: options.failover,
    scheduling: options.scheduling,
    onDecision: (key, plan) => decisions.record(key, plan),
    meter: monitoring.pipeline,
  });
  const worker = writeThrough(reach("work", "flotilla-work"));
  /** Members that pull have an agent that sees to their works. */
  function workMember(name: string): WorkMember | undefined {
    const cluster = hubInformers.of(Cluster).get({ cluster: HUB, name });
    const delivery = !cluster || cluster.spec.syncMode === "Pull" ? undefined : deliveryFor(name);
    if (!cluster || !delivery) return undefined;
    const remote = membership.remoteClientOf(name);
    if (!remote && !isMember(name)) return undefined;
    const member = remote
      ? { delivery, client: remote, cluster: name, dryRunAs: dryRunOver(remote, name) }
      : simulatedWorkMember(name, delivery, worker, (user) => throughNetwork(server.transport(user), network));
    const farewell = farewellOf(cluster);
    return farewell === "release" || farewell === "abandon" ? { ...member, farewell } : member;
  }
  function simulatedWorkMember(
    name: string,
    delivery: Delivery,
    memberClient: Client,
    transportAs: ApiServer["transport"],
  ): WorkMember {
    return {
      delivery,
      client: memberClient,
      cluster: name,
      dryRunAs: async ({ user, groups }, kind, object, signal) =>
        void (await createClient({
          transport: transportAs({ name: user, groups: [...groups] }),
          fieldManager: "flotilla-work",
        }).create(kind, name, object, { dryRun: true, signal })),
    };
  }
  const { metadata: identity } = await client.get(Namespace, { cluster: HUB, name: "kube-system" });
  const hubHash = hash("sha256", identity.uid ?? HUB, "hex");
  const ocm = createOcm({
    hub: HUB,
    informers: hubInformers,
    clientFor,
    events: events.recorders,
    memberFor: workMember,
    origin: { hubHash, agentID: hubHash },
    interpreter: configured.interpreter,
    clock,
    random,
    log,
    members: { simulated: distantInformers, informersOf: membership.informersOf, farewellOf },
    meter: monitoring.placements,
    autoApprovedUsers: options.autoApprovedUsers,
  });
  const explainer = createExplainer({
    views: propagation.views,
    interpreter: configured.interpreter,
    decisions,
    clock,
    ocm: createOcmExplainer({
      hub: HUB,
      informers: hubInformers,
      placements: ocm.placements,
      views: propagation.views,
      clock,
    }),
  });
  hubManager.add(
    ...monitoring.controllers.around([...propagation.controllers, ...membership.controllers, ...ocm.controllers]),
  );

  const { manager: memberManager, simulation } = createMembers({
    ...gates,
    times: options.times,
    server,
    client: clientFor("member"),
    informers: memberInformers,
    clock,
    random,
    log: log.with({ component: "members" }),
    events: events.recorders,
    haveNodes: nodes > 0,
    hasKruise,
  });

  const memberRuntime = ocmLogs.around(simulation.runtime);
  server.onClusterGone((cluster) => ocmLogs.forget(cluster));

  const managers: readonly Manager[] = [hubManager, memberManager, systemManager];
  const agentWorker = clientFor("work");
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
        const delivery = measured(name, fromWithin.of(name));
        return delivery && simulatedWorkMember(name, delivery, agentWorker, server.transport);
      },
    },
    origin: { hubHash, agentID: hubHash },
    times: options.membershipTimes,
    clock,
    random,
    log: ocmLogs.keep(log),
  });
  const metrics = createHubMetrics({
    hub: HUB,
    monitoring,
    server,
    cache,
    storeBytes: options.storeBytes,
    informers: hubInformers,
    memberInformers,
    isSimulated,
    informersOf: membership.informersOf,
    templates: propagation.templates,
    managers: () => [...managers, ...pull.managers()],
    lanes: () => [...propagation.lanes.figures(), ...ocm.lanes.figures(), ...pull.lanes()],
    interpreter: configured,
  });
  const pulls = (name: string): boolean => options.pull === "all" || (options.pull?.includes(name) ?? false);

  async function addCluster(name: string): Promise<void> {
    try {
      await server.addCluster(name, kruise === "installed" ? "member" : "member-bare");
    } catch (error) {
      const had = kruise === "installed" ? "without" : "with";
      throw new FlotillaError(
        "Cluster",
        `${name} was made ${had} OpenKruise in this data directory; start it as it was, or choose another directory with --data DIR`,
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
    isQuiet: () => server.isQuiet() && propagation.isQuiet() && ocm.isQuiet() && events.isQuiet() && pull.isQuiet(),
    async start(signal) {
      metrics.start(signal);
      await configured.whenReady(signal);
      for (const manager of managers.toReversed()) manager.start(signal);
      await Promise.all(managers.map((manager) => manager.whenSynced(signal)));
      pull.start(signal);
    },
    async addMembers(names, endpointOf, signal) {
      // Logical clusters that users made through the API have not joined and are not members.
      const { items: joined } = await client.list(Cluster, { cluster: HUB, signal });
      const known = joined.map(({ metadata }) => metadata.name).filter(isMember);
      const members = [...new Set([...known, ...names])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      if (options.pull) checkPulling(options.pull, members, joined);
      for (const name of members) {
        // One that is asked for must be what is asked for; an earlier one that is not mentioned stays what it was.
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
      return members;
    },
    async stop() {
      await Promise.all([hubManager.stop(), memberManager.stop(), systemManager.stop(), pull.stop()]);
      await events.stop();
      await propagation.close();
      await ocm.close();
      await membership.close();
      await configured.close();
      hubInformers.close();
      memberInformers.close();
      systemInformers.close();
      await server.close();
      await cache.close();
      await engine.close();
    },
  };
}
