/**
 * Agent: delivers works and reports status from the member side, for members that the hub cannot reach. It uses the
 * same stages as the hub to apply Works and ManifestWorks and report them, the same rules for member health, and renews
 * Leases as a heartbeat.
 *
 * One agent serves one real cluster over a network, or all simulated members that pull in the process of their hub.
 *
 * Reads: from the hub, its own works, the Cluster and ManagedCluster of its members, and the resource interpreter
 * rules; from the member, the objects that works name, its nodes, pods and claims.
 * Writes: on the hub, the status of works and members, and Leases; on the member, the objects of its works.
 *
 * While the hub is unreachable, the agent continues with the last known works: it still compares them with the member
 * and repairs drift. It removes nothing, because removal requires a work that the hub reports as deleted
 * (docs/adr/0019-pull-agents.md).
 */
import { defined } from "@flotilla/base";
import { Cluster, Work } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Delivery } from "../delivery/delivery.ts";
import type { LaneFigures, MemberLanes } from "../delivery/member-lanes.ts";
import { createConfiguredInterpreter } from "../interpreter/configured.ts";
import { createInterpreter } from "../interpreter/interpreter.ts";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { createCapacities } from "../membership/capacities.ts";
import { createChanges } from "../membership/changes.ts";
import { createLeavingDelivery, leaveModeOf } from "../membership/leaving-delivery.ts";
import { createMembershipController } from "../membership/membership-controller.ts";
import { createProber } from "../membership/prober.ts";
import { MEMBERSHIP_TIMES } from "../membership/create-membership.ts";
import type { MembershipTimes } from "../membership/create-membership.ts";
import type { Prober } from "../membership/prober.ts";
import { createManagedNamespaceController } from "../ocm/namespaces/namespaces-controller.ts";
import { createWork } from "../ocm/work/create-work.ts";
import type { MemberFor } from "../ocm/work/member-objects.ts";
import type { WorkOrigin } from "../ocm/work/applied-work.ts";
import { createExecution } from "../propagation/create-execution.ts";
import type { ExecutionMeter } from "../propagation/meter.ts";
import {
  createEventRecorders,
  createInformers,
  createManager,
  createWriteThroughClient,
  isLater,
} from "@flotilla/controller-runtime";
import type { Controller, Manager, SharedInformers, Source } from "@flotilla/controller-runtime";
import type { Rotation } from "./credentials/keep-credentials.ts";
import { createHubView } from "./hub-view.ts";
import { createClusterLeaseController, createManagedClusterLeaseController } from "./lease-controller.ts";
import { createManagedClusterController } from "./managed-cluster/managed-cluster-controller.ts";
import type { AgentMembers } from "./members.ts";
import { withoutPatches } from "./without-patches.ts";

/** The APIs an agent may use on its hub: Karmada's, Open Cluster Management's, or both. */
export interface HubApis {
  karmada: boolean;
  ocm: boolean;
}

export interface AgentOptions {
  /** The hub's name in keys. */
  hub: string;
  apis: HubApis;
  /** Returns a hub client for one part; its field manager identifies the writer in managedFields. */
  clientFor(part: string): Client;
  /** The one member that the agent serves; it reads only that member's objects on the hub. Unset reads everything. */
  only?: string;
  members: AgentMembers;
  /** Identifies, on members, the hub whose ManifestWorks they hold. */
  origin: WorkOrigin;
  /**
   * Called when the hub returns older data than before, which means it was restored from a backup. Watches that resume
   * from a later resourceVersion would receive nothing for a long time, so everything must be listed again.
   */
  onOlderHub?(): void;
  /** Called when the Cluster or ManagedCluster of the member is deleted on the hub, or denied. */
  onRegistrationChange?(): void;
  /** Certificate rotation state of this agent; unset if the agent has no certificate. */
  rotation?(): Rotation | undefined;
  /**
   * How long a member keeps the objects of a ManifestWork that no longer exists on the hub; unset keeps them
   * indefinitely.
   */
  evictionGraceMs?: number;
  /** Receives delivery durations. */
  meter?: ExecutionMeter;
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Agent {
  manager: Manager;
  /** Queue state of members that are busy or unreachable. */
  lanes(): LaneFigures[];
  /** Cost of user scripts and webhooks. */
  writeMetrics(text: MetricsText): void;
  /** True while no write is in flight. */
  isQuiet(): boolean;
  /** Starts the agent and waits for the hub if it is unreachable. Resolves when the controllers are running. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops the agent. Workloads on members keep running. */
  stop(): Promise<void>;
}

/** Interval for querying a real cluster's API discovery; an in-process member reports changes itself. */
const DISCOVERY_INTERVAL_MS = 30_000;

interface Part {
  controllers: Controller<ObjectKey>[];
  lanes: Pick<MemberLanes, "figures">;
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  const { hub, apis, only, members, clock, random, log } = options;
  const { periodMs, ...thresholds } = { ...MEMBERSHIP_TIMES, ...defined(options.times) };
  const client = options.clientFor("agent");
  const informers = createInformers({
    client: only === undefined ? client : createHubView(client, only),
    clock,
    random,
    log,
    scope: { cluster: hub },
  });
  const clientFor = (part: string): Client => createWriteThroughClient(options.clientFor(part), [informers]);
  const events = createEventRecorders({ client: clientFor("events"), clock, log });
  // Resource interpreter rules are Karmada's API; the hub reports the result of a script to its owner.
  const configured = apis.karmada
    ? createConfiguredInterpreter({ hub, informers, clock, random, log, reportScriptState: () => {} })
    : undefined;
  const interpreter = configured?.interpreter ?? createInterpreter();

  const changes = createChanges(hub);
  const capacities = createCapacities(changes.report);
  const isGone = (name: string): boolean =>
    ![...(apis.karmada ? [Cluster] : []), ...(apis.ocm ? [ManagedCluster] : [])].some((kind) =>
      informers.of<Cluster | ManagedCluster>(kind).get({ cluster: hub, name }),
    );
  const prober = untilGone(
    createProber({
      hub,
      periodMs,
      factsEveryMs: () => (only === undefined ? Number.MAX_SAFE_INTEGER : DISCOVERY_INTERVAL_MS),
      clock,
      random,
      log,
    }),
    isGone,
  );
  const stops = [capacities.watch(members.summary), members.onServed(prober.refresh)];
  const { onRegistrationChange } = options;
  if (onRegistrationChange) {
    if (apis.karmada) stops.push(informers.of(Cluster).subscribe(({ deleted }) => deleted && onRegistrationChange()));
    if (apis.ocm)
      stops.push(
        informers
          .of(ManagedCluster)
          .subscribe(({ object, deleted }) => (deleted || !object.spec.hubAcceptsClient) && onRegistrationChange()),
      );
  }

  let newest = "";
  function onRenewal(resourceVersion: string): void {
    if (isLater(newest, resourceVersion)) options.onOlderHub?.();
    newest = resourceVersion;
  }

  const shared: Shared = {
    informers,
    clientFor,
    interpreter,
    events,
    changes,
    prober,
    capacities,
    thresholds,
    onRenewal,
  };
  const parts = [
    ...(apis.karmada ? [createKarmadaPart(options, shared)] : []),
    ...(apis.ocm ? [createOcmPart(options, shared)] : []),
  ];
  const manager = createManager({
    client: apis.karmada ? withoutPatches(clientFor("agent"), informers.of(Work)) : clientFor("agent"),
    informers,
    clock,
    log: log.with({ component: "agent" }),
  });
  manager.add(...parts.flatMap(({ controllers }) => controllers));
  return {
    manager,
    lanes: () => parts.flatMap((part) => part.lanes.figures()),
    writeMetrics: (text) => configured?.writeMetrics(text),
    isQuiet: () => parts.every((part) => part.isQuiet()) && events.isQuiet(),
    async start(signal) {
      await configured?.whenReady(signal);
      manager.start(signal);
      await manager.whenSynced(signal);
    },
    async stop() {
      await manager.stop();
      for (const stop of stops) stop();
      prober.close();
      await Promise.all(parts.map((part) => part.close()));
      await events.stop();
      await configured?.close();
      informers.close();
    },
  };
}

/** What the parts of an agent use together. */
interface Shared {
  informers: SharedInformers;
  clientFor(part: string): Client;
  interpreter: Interpreter;
  events: ReturnType<typeof createEventRecorders>;
  changes: ReturnType<typeof createChanges>;
  prober: Prober;
  capacities: ReturnType<typeof createCapacities>;
  thresholds: Omit<MembershipTimes, "periodMs">;
  /** Called with the resourceVersion of each renewed Lease. */
  onRenewal(resourceVersion: string): void;
}

/** Works and the Cluster of Karmada. */
function createKarmadaPart(options: AgentOptions, shared: Shared): Part {
  const { hub, members, clock, random, log } = options;
  const { informers, clientFor, interpreter, events, changes, prober, capacities, thresholds, onRenewal } = shared;
  const clusters = informers.of(Cluster);
  const serves = (name: string): boolean =>
    members.serves(name) && clusters.get({ cluster: hub, name })?.spec.syncMode === "Pull";
  const deliveryFor = createDeliveries(
    (name) => members.memberFor(name)?.delivery,
    (name) => clusters.get({ cluster: hub, name }),
  );
  const execution = createExecution({
    followsPolicies: false,
    hub,
    informers,
    clientFor,
    deliveryFor,
    serves,
    interpreter,
    events: events.recorders,
    meter: options.meter,
    clock,
    random,
    log,
  });
  return {
    ...execution,
    controllers: [
      ...execution.controllers,
      createMembershipController({
        hub,
        hubClient: clientFor("membership"),
        serves: ({ metadata }) => serves(metadata.name),
        accessTo: ({ metadata }) => members.accessTo(metadata.name),
        changes: changes.source(),
        prober,
        capacities,
        thresholds,
        clock,
      }),
      createClusterLeaseController({ hub, client: clientFor("lease"), serves, onRenewal, clock, random }),
    ],
  };
}

/** ManifestWorks and the ManagedCluster of Open Cluster Management. */
function createOcmPart(options: AgentOptions, shared: Shared): Part {
  const { hub, apis, members, origin, evictionGraceMs, clock, random, log } = options;
  const { informers, clientFor, interpreter, changes, prober, onRenewal } = shared;
  // In the hub's process there are push and pull members; the Karmada Cluster specifies which.
  const serves = (name: string): boolean =>
    members.serves(name) &&
    (!apis.karmada || informers.of(Cluster).get({ cluster: hub, name })?.spec.syncMode !== "Push");
  const memberFor: MemberFor = (name) => (serves(name) ? members.memberFor(name) : undefined);
  const work = createWork({
    hub,
    informers,
    memberFor,
    origin,
    interpreter,
    statusClient: clientFor("work"),
    clock,
    random,
    log,
    followClusters: apis.karmada,
    served: servedBy(members),
    memberInformers: members.objects,
    evictionGraceMs,
    onStopped: options.meter?.objectsStopped,
  });
  return {
    ...work,
    controllers: [
      ...work.controllers,
      createManagedNamespaceController({
        hub,
        informers,
        client: clientFor("managed-namespaces"),
        memberFor,
        origin,
        clock,
      }),
      createManagedClusterController({
        hub,
        client: clientFor("managed-cluster"),
        serves,
        accessTo: members.accessTo,
        idOf: members.idOf,
        prober,
        changes: changes.source(),
        rotation: options.rotation,
        clock,
      }),
      createManagedClusterLeaseController({
        hub,
        client: clientFor("managed-lease"),
        serves,
        onRenewal,
        clock,
        random,
      }),
    ],
  };
}

/** Members whose served kinds changed: works that wait for a kind are retried at once. */
function servedBy(members: AgentMembers): Source<string> {
  return {
    start: (enqueue, signal) =>
      signal.addEventListener(
        "abort",
        members.onServed((cluster) => enqueue(cluster)),
        { once: true },
      ),
    isQuiet: () => true, // Called directly by informers, which report their own pending work.
  };
}

/** Both registrations of a member share one prober, which forgets the member when the last registration is removed. */
function untilGone(prober: Prober, isGone: (cluster: string) => boolean): Prober {
  return {
    ...prober,
    drop(cluster) {
      if (isGone(cluster)) prober.drop(cluster);
    },
  };
}

/**
 * A member that leaves keeps its workloads, as a push member does. One wrapper per member, because the stages identify
 * members by it.
 */
function createDeliveries(
  of: (cluster: string) => Delivery | undefined,
  clusterOf: (name: string) => DeepReadonly<Cluster> | undefined,
): (cluster: string) => Delivery | undefined {
  const wrapped = new Map<string, { of: Delivery; delivery: Delivery }>();
  return (name) => {
    const delivery = of(name);
    if (!delivery) {
      wrapped.delete(name);
      return undefined;
    }
    const known = wrapped.get(name);
    if (known?.of === delivery) return known.delivery;
    const leaving = createLeavingDelivery(delivery, name, () => {
      const cluster = clusterOf(name);
      return cluster ? leaveModeOf(cluster) : "stays";
    });
    wrapped.set(name, { of: delivery, delivery: leaving });
    return leaving;
  };
}
