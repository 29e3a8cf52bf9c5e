/**
 * The role `controllers`: everything that a hub does with its objects and its members, through clients alone. The API
 * server may run in this process or anywhere else.
 */
import { hash } from "node:crypto";
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { Clock, Log, MetricsText, Random } from "@flotilla/base";
import type { Client, Transport } from "@flotilla/client";
import { VERSION } from "@flotilla/cli";
import {
  combineMembers,
  createConfiguredInterpreter,
  createExplainer,
  createLastDecisions,
  createMembership,
  createMonitoring,
  createOcm,
  createOcmExplainer,
  createPropagation,
  createPulledMembers,
  createRemoteMembers,
  dryRunOver,
  leaveModeOf,
  matchesAffinity,
} from "@flotilla/flotilla";
import type {
  ConnectMember,
  Delivery,
  Explainer,
  FailoverOptions,
  LaneFigures,
  Membership,
  MembershipTimes,
  MemberSource,
  Monitoring,
  OcmDependencies,
  Propagation,
  ScheduleOptions,
  WorkMember,
  WorkOrigin,
} from "@flotilla/flotilla";
import { createManager } from "@flotilla/controller-runtime";
import type { EventRecorders, Manager, SharedInformers } from "@flotilla/controller-runtime";

export interface HubControllersOptions {
  /** The logical cluster of the hub in keys. */
  hub: string;
  /** A client of the hub for one part; its user and field manager name the part. */
  clientFor(part: string): Client;
  /** The hub's objects. */
  informers: SharedInformers;
  events: EventRecorders;
  /** Members that are reached otherwise than over a network with the credentials of their Cluster. */
  simulated?: MemberSource & Pick<OcmDependencies["members"], "simulated">;
  /** Members whose agent runs in this process and needs no access of its own. */
  hasBuiltInAgent?(cluster: string): boolean;
  /** Opens connections to members; unset means over the network. */
  connectMember?: ConnectMember;
  /** Wraps the transport to every remote member, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  membershipTimes?: Partial<MembershipTimes>;
  failover?: FailoverOptions;
  scheduling?: ScheduleOptions;
  autoApprovedUsers?: readonly string[];
  clock: Clock;
  random: Random;
  log: Log;
}

export interface HubControllers {
  manager: Manager;
  membership: Membership;
  propagation: Pick<Propagation, "templates">;
  monitoring: Monitoring;
  explainer: Explainer;
  /** How members are reached. */
  members: MemberSource;
  /** Identifies this hub to members. */
  origin: WorkOrigin;
  /** Measures a delivery. */
  measured(member: string, delivery: Delivery): Delivery;
  lanes(): LaneFigures[];
  writeInterpreterMetrics(text: MetricsText): void;
  isQuiet(): boolean;
  /** Starts reconciling; resolves when everything stored has been read. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export async function createHubControllers(options: HubControllersOptions): Promise<HubControllers> {
  const { hub, clientFor, informers, events, simulated, clock, random, log } = options;
  const client = clientFor("system");
  const clusters = informers.of(Cluster);
  const monitoring = createMonitoring({ hub, version: VERSION, informers, clock });
  const configured = createConfiguredInterpreter({
    hub,
    informers,
    clock,
    random,
    log,
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
    measure: monitoring.requests.around,
  });
  const reached = combineMembers(simulated ? [simulated, remote] : [remote]);
  const members = combineMembers([createPulledMembers(reached), reached]);

  const membership = createMembership({
    hub,
    informers,
    clientFor,
    members,
    hasBuiltInAgent: options.hasBuiltInAgent,
    isHeld: (cluster) => informers.of(ManagedCluster).get({ cluster: hub, name: cluster }) !== undefined,
    matchesAffinity,
    events,
    clock,
    random,
    log,
    times: options.membershipTimes,
  });
  const measured = monitoring.deliveries.around;
  const deliveryFor = (name: string): Delivery | undefined => {
    const delivery = membership.deliveryFor(name);
    return delivery && measured(name, delivery);
  };

  const decisions = createLastDecisions(clock);
  const propagation = createPropagation({
    hub,
    informers,
    clientFor,
    deliveryFor,
    serves: membership.serves,
    interpreter,
    events,
    clock,
    random,
    log,
    failover: options.failover,
    scheduling: options.scheduling,
    onDecision: (key, plan) => decisions.record(key, plan),
    meter: monitoring.pipeline,
  });

  /** Undefined for members that pull: their agents apply their ManifestWorks. */
  function workMember(name: string): WorkMember | undefined {
    const cluster = clusters.get({ cluster: hub, name });
    const member = cluster && membership.memberOf(name);
    const delivery = member?.delivery && deliveryFor(name);
    if (!cluster || !member || !delivery) return undefined;
    const leaveMode = leaveModeOf(cluster);
    return {
      delivery,
      client: member.writer,
      cluster: name,
      dryRunAs: dryRunOver(member.writer, name),
      leaveMode: leaveMode === "release" || leaveMode === "abandon" ? leaveMode : undefined,
    };
  }
  const { metadata } = await client.get(Namespace, { cluster: hub, name: "kube-system" });
  const hubHash = hash("sha256", metadata.uid ?? hub, "hex");
  const origin: WorkOrigin = { hubHash, agentID: hubHash };
  const ocm = createOcm({
    hub,
    informers,
    clientFor,
    events,
    memberFor: workMember,
    origin,
    interpreter,
    clock,
    random,
    log,
    members: { simulated: simulated?.simulated, informersOf: membership.informersOf, leaveModeOf },
    meter: monitoring.placements,
    autoApprovedUsers: options.autoApprovedUsers,
  });

  const explainer = createExplainer({
    views: propagation.views,
    interpreter,
    decisions,
    clock,
    ocm: createOcmExplainer({ hub, informers, placements: ocm.placements, views: propagation.views, clock }),
  });
  const manager = createManager({ client, informers, clock, log });
  manager.add(
    ...monitoring.controllers.around([...propagation.controllers, ...membership.controllers, ...ocm.controllers]),
  );

  return {
    manager,
    membership,
    propagation,
    monitoring,
    explainer,
    members,
    origin,
    measured,
    lanes: () => [...propagation.lanes.figures(), ...ocm.lanes.figures()],
    writeInterpreterMetrics: configured.writeMetrics,
    isQuiet: () => propagation.isQuiet() && ocm.isQuiet(),
    async start(signal) {
      await configured.whenReady(signal);
      manager.start(signal);
      await manager.whenSynced(signal);
    },
    async stop() {
      await manager.stop();
      await propagation.close();
      await ocm.close();
      membership.close();
      await members.close();
      await configured.close();
    },
  };
}
