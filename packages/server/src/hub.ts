/**
 * Composes the roles in one process: API server, hub controllers, member controllers, and the agent of members that
 * pull. No network and no files: `hub-process.ts` adds those, and tests run this with a fake clock and a store in memory.
 */
import { HUB } from "@flotilla/apimachinery";
import type { ApiServer, Cache } from "@flotilla/apiserver";
import type { Clock, Log } from "@flotilla/base";
import { VERSION } from "@flotilla/base";
import type { Client, ConnectWebhook } from "@flotilla/client";
import { createDecisions, createMonitoring, dryRunOver } from "@flotilla/flotilla";
import { Lease } from "@flotilla/kubernetes";
import type {
  ConnectMember,
  Decisions,
  FailoverOptions,
  MembershipTimes,
  Monitoring,
  ScheduleOptions,
  WorkOrigin,
  Quarantine,
} from "@flotilla/flotilla";
import type { InformerLimits, Manager } from "@flotilla/controller-runtime";
import type { SimulationDependencies } from "@flotilla/simulation";
import { createAddMembers } from "./roles/add-members.ts";
import type { AddMembers } from "./roles/add-members.ts";
import { showComponents } from "./roles/component-readiness.ts";
import { createHubApiServer } from "./roles/api-server.ts";
import type { HubApiServer, HubApiServerOptions } from "./roles/api-server.ts";
import type { HubExtensions } from "./roles/hub-extensions.ts";
import { createHubAccess } from "./roles/create-hub-access.ts";
import type { HubAccess } from "./roles/create-hub-access.ts";
import { createHubControllers } from "./roles/hub-controllers.ts";
import type { HubControllers } from "./roles/hub-controllers.ts";
import { createHubLogs } from "./roles/hub-logs.ts";
import type { HubLogs } from "./roles/hub-logs.ts";
import { CONTROLLERS_LEASE_KEY } from "./roles/controllers-lease.ts";
import { createHubMetrics } from "./roles/hub-metrics.ts";
import type { HubMetrics } from "./roles/hub-metrics.ts";
import { createHubReaders } from "./roles/hub-readers.ts";
import type { HubReaders } from "./roles/hub-readers.ts";
import { createMemberControllers } from "./roles/member-controllers.ts";
import type { MemberControllers } from "./roles/member-controllers.ts";
import { startParts, stopParts } from "./roles/process-parts.ts";
import type { Part } from "./roles/process-parts.ts";
import { createPullMembers } from "./roles/pull-members.ts";
import type { PullMembers } from "./roles/pull-members.ts";
import { createSimulatedClusters } from "./roles/simulated-clusters.ts";
import type { SimulatedClusters } from "./roles/simulated-clusters.ts";
import { createSimulatedFleet } from "./roles/simulated-fleet.ts";
import type { SimulatedFleet } from "./roles/simulated-fleet.ts";
import { readWorkOrigin } from "./roles/work-origin.ts";

export interface HubOptions extends Omit<HubApiServerOptions, "runsKruise" | "allowNoExecuteTaintPolicy"> {
  kruise: "installed" | "none";
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
  /** Connects to interpreter webhooks; over the network if unset. */
  connectWebhook?: ConnectWebhook | undefined;
  /** Where scripts of customizations run that exceed their limits; a thread if unset. A fake clock does not wait for one. */
  quarantine?: Quarantine | undefined;
  /** What the informers of one external member may hold. */
  memberLimits?: InformerLimits;
  /**
   * Open Cluster Management agents that first authenticate as one of these users are accepted automatically; none if
   * unset.
   */
  autoApprovedUsers?: readonly string[];
  /** Called when the API server exists and before controllers connect to it, for example to serve it over HTTP. */
  onServer?(server: ApiServer): Promise<void>;
  /** Size of the store on disk; unset if it is in memory. */
  storeBytes?(): number;
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
  addMembers: AddMembers;
  stop(): Promise<void>;
}

export async function createHub(options: HubOptions): Promise<Hub> {
  const { clock, random, log, wrap } = options;
  const api = await createHubApiServer({
    ...options,
    allowNoExecuteTaintPolicy: options.failover?.allowNoExecuteTaintPolicy,
    runsKruise: (cluster) => clusters.runsKruise(cluster),
  });
  const { server, cache } = api;
  const clusters = createSimulatedClusters(server);
  await options.onServer?.(server);
  const access = createHubAccess({ hub: HUB, api, isMember: clusters.isSimulated, clock, random, log });
  const { client, informers } = access;
  const base: Base = {
    options,
    api,
    clusters,
    access,
    simulated: createSimulatedFleet({ api, clusters, access, wrap, clock, log }),
    monitoring: createMonitoring({ hub: HUB, version: VERSION, informers, clock }),
    origin: await readWorkOrigin(client, HUB),
    logs: createHubLogs(clock),
    decisions: createDecisions({ client: api.connect("decisions", "flotilla-decisions"), hub: HUB, clock, log }),
  };
  const members = wireMemberControllers(base);
  const readers = wireReaders(base);
  const controllers = wireHubControllers(base, readers);
  const pull = wirePullMembers(base);
  const managers: readonly Manager[] = [controllers.manager, members.manager, api.manager];
  const metrics = wireMetrics(base, { readers, controllers, pull, managers });
  api.extend(extensionsOf(base, { members, readers, pull, managers, metrics }));
  // The agent of members that pull starts when everything that it reports to has read its objects.
  const synced: Part = {
    start: async (signal) => void (await Promise.all(managers.map((manager) => manager.whenSynced(signal)))),
  };
  const parts: readonly Part[] = [
    api,
    { stop: () => base.decisions.stop() },
    access,
    metrics,
    members,
    readers,
    ownControllers(client, clock),
    controllers,
    synced,
    pull,
  ];
  return {
    server,
    cache,
    client,
    get managers() {
      return [...managers, ...pull.managers()];
    },
    isCut: base.simulated.network.isCut,
    isQuiet: () =>
      server.isQuiet() && controllers.isQuiet() && access.isQuiet() && pull.isQuiet() && base.decisions.isQuiet(),
    start: (signal) => startParts(parts, signal),
    addMembers: createAddMembers({
      ...options,
      server,
      client,
      isMember: clusters.isMember,
      simulation: members.simulation,
    }),
    stop: () => stopParts(parts),
  };
}

/** What every role in this process is built on. */
interface Base {
  options: HubOptions;
  api: HubApiServer;
  clusters: SimulatedClusters;
  access: HubAccess;
  simulated: SimulatedFleet;
  monitoring: Monitoring;
  /** Identifies this hub to members. */
  origin: WorkOrigin;
  logs: HubLogs;
  decisions: Decisions;
}

function wireMemberControllers({ options, api, clusters, access }: Base): MemberControllers {
  return createMemberControllers({
    gates: options.kruiseGates,
    times: options.times,
    clusters: api.server,
    client: access.clientFor("member"),
    informers: access.memberInformers,
    clock: options.clock,
    random: options.random,
    log: options.log.with({ component: "members" }),
    events: access.events,
    haveNodes: options.nodes > 0,
    runsKruise: clusters.runsKruise,
  });
}

/**
 * Leases of controllers that once ran in other processes would be taken for controllers that have stopped, and their
 * components may still be shown as not ready.
 */
const ownControllers = (client: Client, clock: Clock): Part => ({
  async start(signal) {
    const { cluster, namespace, name } = CONTROLLERS_LEASE_KEY;
    const { items } = await client.list(Lease, { cluster, namespace, signal });
    const leases = items.filter(({ metadata }) => metadata.name.startsWith(name));
    if (leases.length === 0) return;
    await showComponents(client, true, { nowMs: clock.now(), signal });
    for (const { metadata } of leases) await client.delete(Lease, { ...CONTROLLERS_LEASE_KEY, name: metadata.name });
  },
});

const hubLog = ({ options, logs }: Base): Log => logs.keepOfHub(options.log.with({ component: "hub" }));

function wireReaders(base: Base): HubReaders {
  const { options, access, simulated, monitoring } = base;
  return createHubReaders({
    hub: HUB,
    client: access.clientFor("discovery"),
    informers: access.informers,
    events: access.events,
    memberSources: [simulated.fromHub.members],
    connectMember: options.connectMember,
    connectWebhook: options.connectWebhook,
    quarantine: options.quarantine,
    memberLimits: options.memberLimits,
    wrap: options.wrap,
    measure: monitoring.requests.around,
    scheduling: options.scheduling,
    clock: options.clock,
    random: options.random,
    log: hubLog(base),
  });
}

function wireHubControllers(base: Base, { sources }: HubReaders): HubControllers {
  const { options, access, monitoring, origin, decisions } = base;
  return createHubControllers({
    hub: HUB,
    clientFor: access.clientFor,
    informers: access.informers,
    events: access.events,
    decisions,
    sources,
    monitoring,
    origin,
    membershipTimes: options.membershipTimes,
    failover: options.failover,
    autoApprovedUsers: options.autoApprovedUsers,
    clock: options.clock,
    random: options.random,
    log: hubLog(base),
  });
}

function wirePullMembers({ options, clusters, access, simulated, monitoring, origin, logs }: Base): PullMembers {
  const { fromMembers } = simulated;
  const writer = access.clientFor("work");
  return createPullMembers({
    hub: HUB,
    informers: access.informers,
    clientFor: fromMembers.hubClientFor,
    simulated: {
      client: access.client,
      informers: access.memberInformers,
      isMember: clusters.isMember,
      memberFor(name) {
        const delivery = fromMembers.deliveryTo(name);
        return (
          delivery && {
            delivery: monitoring.deliveries.around(name, delivery),
            client: writer,
            cluster: name,
            dryRunAs: dryRunOver(writer, name),
          }
        );
      },
    },
    origin,
    times: options.membershipTimes,
    clock: options.clock,
    random: options.random,
    log: logs.keepOfAgents(options.log),
  });
}

function wireMetrics(
  { options, api, clusters, access, monitoring, decisions }: Base,
  roles: { readers: HubReaders; controllers: HubControllers; pull: PullMembers; managers: readonly Manager[] },
): HubMetrics {
  const { readers, controllers, pull, managers } = roles;
  return createHubMetrics({
    hub: HUB,
    monitoring,
    decisions,
    writeInterpreterMetrics: readers.writeInterpreterMetrics,
    templates: readers.sources.views.templates,
    membership: controllers.membership,
    store: () => ({
      entries: api.cache.count("/"),
      revision: api.cache.revision,
      bytes: options.storeBytes?.(),
      valueBytes: api.cache.bytes,
      quotaBytes: options.storeQuotaBytes || undefined,
    }),
    informers: access.informers,
    simulated: {
      has: clusters.isSimulated,
      informers: access.memberInformers,
      serves: api.server.serves,
    },
    managers: () => [...managers, ...pull.managers()],
    lanes: () => [...controllers.lanes(), ...pull.lanes()],
  });
}

/** What the roles add to the API. */
function extensionsOf(
  { options, api, clusters, simulated, logs }: Base,
  roles: {
    members: MemberControllers;
    readers: HubReaders;
    pull: PullMembers;
    managers: readonly Manager[];
    metrics: HubMetrics;
  },
): HubExtensions {
  const { server } = api;
  const { members, readers, pull, managers, metrics } = roles;
  const { network, fromHub } = simulated;
  const memberRuntime = logs.around(members.simulation.runtime);
  server.onClusterGone((cluster) => logs.forget(cluster));
  return {
    ...readers.extensions((request, signal) => fromHub.call(HUB, request, signal)),
    podMetrics: members.simulation.metrics,
    runtimeOf(cluster) {
      // The hub runs nothing but the components in this process that its pods represent.
      if (cluster === HUB) return logs.hubRuntime;
      // Kubelets are simulated also where other programs schedule and control the pods.
      return options.nodes > 0 && clusters.isSimulated(cluster) ? memberRuntime : undefined;
    },
    controllers: {
      writeMetrics: (text) => metrics.write(text),
      // The agent of members whose network is cut fails on purpose.
      problems: () =>
        [...managers, ...(network.hasCuts() ? [] : pull.managers())].flatMap((manager) => manager.problems()),
    },
    workloads: metrics.workloads,
  };
}
