/**
 * The role `controllers`: everything that a hub does with its objects and its members, through clients alone. The API
 * server may run in this process or anywhere else.
 */
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import {
  CONTROLLER_GROUPS,
  createAutoscaling,
  createMembership,
  createOcm,
  createPropagation,
  createQuota,
  createRollouts,
  dryRunOver,
  isPaired,
  leaveModeOf,
  matchesAffinity,
} from "@flotilla/flotilla";
import type {
  ControllerGroup,
  DecisionRecorder,
  Delivery,
  FailoverOptions,
  LaneFigures,
  Membership,
  MembershipTimes,
  Monitoring,
  WorkMember,
  WorkOrigin,
} from "@flotilla/flotilla";
import { createManager } from "@flotilla/controller-runtime";
import type { EventRecorders, Manager, SharedInformers } from "@flotilla/controller-runtime";
import type { PlanningSources } from "./hub-readers.ts";
import type { Part } from "./process-parts.ts";

export interface HubControllersOptions {
  /** The logical cluster of the hub in keys. */
  hub: string;
  /** A client of the hub for one part; its user and field manager name the part. */
  clientFor(part: string): Client;
  /** The hub's objects. */
  informers: SharedInformers;
  events: EventRecorders;
  decisions: DecisionRecorder;
  /** What they plan with, and the members that they reach. */
  sources: PlanningSources;
  monitoring: Monitoring;
  /** Identifies this hub to members. */
  origin: WorkOrigin;
  /** Whether this process delivers to a member; unset: to all. */
  deliversTo?(member: string): boolean;
  membershipTimes?: Partial<MembershipTimes>;
  failover?: FailoverOptions;
  autoApprovedUsers?: readonly string[];
  clock: Clock;
  random: Random;
  log: Log;
}

export interface HubControllers extends Part {
  manager: Manager;
  membership: Membership;
  lanes(): LaneFigures[];
  isQuiet(): boolean;
  /** Starts all groups; resolves when everything stored has been read. */
  start(signal: AbortSignal): Promise<void>;
  /** Runs one group, after or before `start`. */
  run(group: ControllerGroup): void;
  /** Starts without any group. */
  standBy(signal: AbortSignal): void;
  stop(): Promise<void>;
}

export function createHubControllers(options: HubControllersOptions): HubControllers {
  const { hub, clientFor, informers, events, sources, monitoring, clock, random, log } = options;
  const { members, interpreter, views, placements } = sources;
  const deliversTo = (name: string): boolean => options.deliversTo?.(name) ?? true;
  const membership = createMembership({
    hub,
    informers,
    clientFor,
    members,
    isHeld(cluster) {
      const managed = informers.of(ManagedCluster).get({ cluster: hub, name: cluster });
      return managed !== undefined && isPaired(managed);
    },
    matchesAffinity,
    events,
    decisions: options.decisions,
    clock,
    random,
    log,
    times: options.membershipTimes,
  });
  const deliveryFor = (name: string): Delivery | undefined => {
    const delivery = membership.deliveryFor(name);
    return delivery && monitoring.deliveries.around(name, delivery);
  };
  const rollouts = createRollouts({
    hub,
    informers,
    clientFor,
    views,
    index: sources.releases,
    members,
    events,
    decisions: options.decisions,
    clock,
    log,
  });
  const propagation = createPropagation({
    releases: sources.releases,
    hub,
    informers,
    clientFor,
    deliveryFor,
    serves: (name) => deliversTo(name) && membership.serves(name),
    interpreter,
    views,
    events,
    decisions: options.decisions,
    clock,
    random,
    log,
    failover: options.failover,
    onDecision: (key, plan) => sources.decisions.record(key, plan),
    meter: monitoring.pipeline,
  });
  const ocm = createOcm({
    hub,
    informers,
    clientFor,
    events,
    decisions: options.decisions,
    memberFor: createWorkMembers(hub, informers, membership, (name) =>
      deliversTo(name) ? deliveryFor(name) : undefined,
    ),
    placements,
    origin: options.origin,
    interpreter,
    clock,
    random,
    log,
    members: { sharedInformers: members.sharedInformers, informersOf: membership.informersOf, leaveModeOf },
    meter: monitoring.placements,
    onStopped: monitoring.pipeline.objectsStopped,
    autoApprovedUsers: options.autoApprovedUsers,
  });
  const autoscalers = createAutoscaling({
    hub,
    informers,
    clientFor,
    memberOf: membership.memberOf,
    events,
    decisions: options.decisions,
    meter: monitoring.autoscaling,
    clock,
  });
  const quota = createQuota({ hub, informers, clientFor, events, clock });
  const manager = createManager({ client: clientFor("system"), informers, clock, log });
  const controllersOf: Record<ControllerGroup, () => Parameters<Manager["add"]>> = {
    propagation: () => [...propagation.controllers, ...rollouts.controllers, ...autoscalers, quota],
    membership: () => membership.controllers,
    ocm: () => ocm.controllers,
    delivery: () => [...propagation.deliveries, ...ocm.deliveries],
  };
  const run = (group: ControllerGroup): void => manager.add(...monitoring.controllers.around(controllersOf[group]()));

  return {
    manager,
    membership,
    lanes: () => [...propagation.lanes.figures(), ...ocm.lanes.figures()],
    isQuiet: () => propagation.isQuiet() && ocm.isQuiet(),
    run,
    standBy: (signal) => manager.start(signal),
    async start(signal) {
      for (const group of CONTROLLER_GROUPS) run(group);
      manager.start(signal);
      await manager.whenSynced(signal);
    },
    async stop() {
      await manager.stop();
      await propagation.close();
      await ocm.close();
      membership.close();
    },
  };
}

/** Members to which the hub applies ManifestWorks; undefined for members that pull, whose agents apply them. */
function createWorkMembers(
  hub: string,
  informers: SharedInformers,
  membership: Membership,
  deliveryFor: (name: string) => Delivery | undefined,
): (name: string) => WorkMember | undefined {
  const clusters = informers.of(Cluster);
  return (name) => {
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
  };
}
