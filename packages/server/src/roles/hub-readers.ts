/**
 * What reads a hub without reconciling it: the interpreter, the views of the planners, the connections to members, and
 * the explanations that use them. The API server answers requests with it; the hub's controllers plan with it.
 *
 * Reads: the hub's objects, through informers.
 * Writes: events about scripts of customizations; nothing else.
 */
import { Cluster } from "@flotilla/karmada";
import type { Clock, Log, MetricsText, Random } from "@flotilla/base";
import type { Client, ConnectWebhook, Transport } from "@flotilla/client";
import {
  combineMembers,
  createClusterProxy,
  createConfiguredInterpreter,
  createExplainer,
  createFleetMetrics,
  createHubViews,
  createLocatePods,
  createLastDecisions,
  createMemberReader,
  createOcmExplainer,
  createPlacementSources,
  createPulledMembers,
  createReleaseIndex,
  createRemoteMembers,
  FleetRollout,
  RolloutStrategy,
} from "@flotilla/flotilla";
import type {
  ConnectMember,
  HubViews,
  Interpreter,
  LastDecisions,
  MemberSource,
  PlacementSources,
  ReleaseIndex,
  ScheduleOptions,
  Quarantine,
} from "@flotilla/flotilla";
import { Rollout } from "@flotilla/openkruise";
import type { EventRecorders, InformerLimits, Informers } from "@flotilla/controller-runtime";
import type { ConnectHandler } from "@flotilla/apimachinery";
import type { HubExtensions } from "./hub-extensions.ts";
import type { Part } from "./process-parts.ts";

export interface HubReadersOptions {
  /** The logical cluster of the hub in keys. */
  hub: string;
  /** Discovers the hub's kinds. */
  client: Client;
  /** The hub's objects. */
  informers: Informers;
  events: EventRecorders;
  /** Members that are reached otherwise than over a network with the credentials of their Cluster. */
  memberSources?: readonly MemberSource[];
  /** Opens connections to members; unset means over the network. */
  connectMember?: ConnectMember;
  /** Opens connections to interpreter webhooks; unset means over the network. */
  connectWebhook?: ConnectWebhook | undefined;
  /** Where scripts of customizations run that exceed their limits; a thread if unset. */
  quarantine?: Quarantine | undefined;
  /** What the informers of one remote member may hold. */
  memberLimits?: InformerLimits;
  /** Wraps the transport to every remote member, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  /** Wraps every connection to a remote member, to measure its traffic. */
  measure?(transport: Transport, cluster: string): Transport;
  scheduling?: ScheduleOptions;
  clock: Clock;
  random: Random;
  log: Log;
}

/** What the hub's controllers plan with. */
export interface PlanningSources {
  /** How members are reached. */
  members: MemberSource;
  interpreter: Interpreter;
  views: HubViews;
  /** Which revision each member may have. */
  releases: ReleaseIndex;
  /** The inputs of Placement decisions. */
  placements: PlacementSources;
  /** The scheduler's last decisions: the controllers record them, explanations show them. */
  decisions: LastDecisions;
}

export interface HubReaders extends Part {
  sources: PlanningSources;
  /** The subresources that are answered from here; `askHub` answers for the hub itself, as the user who asks. */
  extensions(askHub: ConnectHandler): Required<Pick<HubExtensions, "clusterProxy" | "explanation" | "fleetMetrics">>;
  writeInterpreterMetrics(text: MetricsText): void;
  /** Resolves when the interpreter has read its configuration. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export function createHubReaders(options: HubReadersOptions): HubReaders {
  const { hub, client, informers, events, memberSources = [], scheduling, clock, random, log } = options;
  const configured = createConfiguredInterpreter({
    hub,
    informers,
    clock,
    random,
    log,
    connectWebhook: options.connectWebhook,
    quarantine: options.quarantine,
    reportScriptState: (customization, reason, message) =>
      events("flotilla-interpreter").record(hub, customization, { type: "Warning", reason, message }),
  });
  const { interpreter } = configured;
  const remote = createRemoteMembers({
    hub,
    informers,
    clock,
    random,
    log,
    wrap: options.wrap,
    connect: options.connectMember,
    measure: options.measure,
    limits: options.memberLimits,
    onCutOff: (cluster, message) =>
      events("cluster-controller").record(hub, cluster, { type: "Warning", reason: "ClusterCutOff", message }),
  });
  const reached = combineMembers([...memberSources, remote]);
  const members = combineMembers([createPulledMembers(reached), reached]);
  const locatePods = createLocatePods({ hub, clusters: informers.of(Cluster), members, clock, log });
  const views = createHubViews({ hub, informers, client, scheduling, locatePods, clock, log });
  const releases = createReleaseIndex({
    hub,
    rollouts: informers.of(FleetRollout),
    strategies: informers.of(RolloutStrategy),
    leads: informers.of(Rollout),
  });
  const placements = createPlacementSources({ hub, informers });
  const decisions = createLastDecisions(clock);
  const explainer = createExplainer({
    views,
    releases,
    interpreter,
    readMember: createMemberReader({ hub, clusters: informers.of(Cluster), members, clock }),
    decisions,
    clock,
    ocm: createOcmExplainer({ hub, informers, placements, views, clock }),
  });
  return {
    sources: { members, interpreter, views, releases, placements, decisions },
    extensions: (askHub) => ({
      clusterProxy: createClusterProxy({ hub, clusters: informers.of(Cluster), members, askHub, clock }),
      explanation: (namespace, name) => explainer.get(namespace, name),
      fleetMetrics: createFleetMetrics({ hub, clusters: informers.of(Cluster), members, clock }),
    }),
    writeInterpreterMetrics: configured.writeMetrics,
    start: configured.whenReady,
    async stop() {
      views.templates.close();
      await members.close();
      await configured.close();
    },
  };
}
