/**
 * An agent: what a hub does for the members that it reaches, done from the members' side for those that it does not
 * reach. The same stages apply Works and ManifestWorks and report them; the same rules say how a member is; and Leases
 * say that somebody is there.
 *
 * One agent serves one real cluster over a network, or all simulated members that pull in the process of their hub.
 *
 * Reads: of the hub its own works, the objects that stand for its members, and the rules for kinds; of the member what
 * works name, its nodes, pods and claims.
 * Writes: on the hub the status of works and members, and Leases; on the member what works ask for.
 *
 * Without its hub it goes on with what it last heard: works are still compared with the member and repaired, and
 * nothing is removed, because removing needs a work that the hub shows as deleted (docs/adr/0019-pull-agents.md).
 */
import { defined } from "../base/index.ts";
import { Cluster, ManagedCluster, Work } from "../api/index.ts";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import type { Delivery, LaneFigures, MemberLanes } from "../delivery/index.ts";
import { createConfiguredInterpreter, createInterpreter } from "../interpreter/index.ts";
import {
  createCapacities,
  createChanges,
  createLeavingDelivery,
  createMembershipController,
  createProber,
  farewellOf,
  MEMBERSHIP_TIMES,
} from "../membership/index.ts";
import type { MembershipTimes, Prober } from "../membership/index.ts";
import { createManagedNamespaceController, createWork } from "../ocm/index.ts";
import type { MemberFor, WorkOrigin } from "../ocm/index.ts";
import { createExecution } from "../propagation/index.ts";
import type { ExecutionMeter } from "../propagation/index.ts";
import {
  createEventRecorders,
  createInformers,
  createManager,
  createWriteThroughClient,
  isLater,
} from "../runtime/index.ts";
import type { Controller, Manager, Source } from "../runtime/index.ts";
import type { Rotation } from "./credentials/keep-credentials.ts";
import { createHubView } from "./hub-view.ts";
import { createClusterLeaseController, createManagedClusterLeaseController } from "./lease-controller.ts";
import { createManagedClusterController } from "./managed-cluster/controller.ts";
import type { AgentMembers } from "./members.ts";
import { withoutPatches } from "./without-patches.ts";

/** What an agent may do on its hub: Karmada's part, Open Cluster Management's, or both. */
export interface Faces {
  karmada: boolean;
  ocm: boolean;
}

export interface AgentOptions {
  /** What the hub is called in keys. */
  hub: string;
  faces: Faces;
  /** A client of the hub for one part; its field manager says in an object's metadata who wrote what. */
  clientFor(part: string): Client;
  /** The one member that it serves, whose part of the hub it reads; unset reads everything. */
  only?: string;
  members: AgentMembers;
  /** By what members know whose ManifestWorks they hold. */
  origin: WorkOrigin;
  /**
   * Told when the hub has gone back in time: what it answers is older than what it answered before. Somebody restored
   * it from a copy without telling its clients. Watches that go on from a later time would hear nothing for long, so
   * that everything is to be read anew.
   */
  onOlderHub?(): void;
  /** Told when what stands for the member on the hub goes, or is denied. */
  onChangedStanding?(): void;
  /** How the certificate of this agent is renewed; unset where it has none. */
  rotation?(): Rotation | undefined;
  /** How long a member keeps what a ManifestWork brought that the hub does not have any more; unset is for good. */
  evictionGraceMs?: number;
  /** Hears how long deliveries take. */
  meter?: ExecutionMeter;
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Agent {
  manager: Manager;
  /** How it stands with members that are busy or away. */
  lanes(): LaneFigures[];
  /** What users' scripts and webhooks cost. */
  writeMetrics(text: MetricsText): void;
  /** No write is on its way. */
  isQuiet(): boolean;
  /** Begins; without a hub it waits for it. Resolves when the controllers work. */
  start(signal: AbortSignal): Promise<void>;
  /** What it runs on members stays. */
  stop(): Promise<void>;
}

/** A real cluster is asked what it serves this often; one in this process says so itself. */
const FACTS_EVERY_MS = 30_000;

interface Part {
  controllers: Controller<ObjectKey>[];
  lanes: Pick<MemberLanes, "figures">;
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  const { hub, faces, only, members, origin, clock, random, log } = options;
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
  // Rules for kinds are Karmada's; the hub tells the owner of a script what became of it.
  const configured = faces.karmada
    ? createConfiguredInterpreter({ hub, informers, clock, random, log, tell: () => {} })
    : undefined;
  const interpreter = configured?.interpreter ?? createInterpreter();

  const changes = createChanges(hub);
  const capacities = createCapacities(changes.tell);
  const isGone = (name: string): boolean =>
    ![...(faces.karmada ? [Cluster] : []), ...(faces.ocm ? [ManagedCluster] : [])].some((kind) =>
      informers.of<Cluster | ManagedCluster>(kind).get({ cluster: hub, name }),
    );
  const prober = untilGone(
    createProber({
      hub,
      periodMs,
      factsEveryMs: () => (only === undefined ? Number.MAX_SAFE_INTEGER : FACTS_EVERY_MS),
      clock,
      random,
      log,
    }),
    isGone,
  );
  const stops = [capacities.watch(members.summary), members.onServed(prober.refresh)];
  const { onChangedStanding } = options;
  if (onChangedStanding) {
    if (faces.karmada) stops.push(informers.of(Cluster).subscribe(({ deleted }) => deleted && onChangedStanding()));
    if (faces.ocm)
      stops.push(
        informers
          .of(ManagedCluster)
          .subscribe(({ object, deleted }) => (deleted || !object.spec.hubAcceptsClient) && onChangedStanding()),
      );
  }

  let newest = "";
  function onRenewal(resourceVersion: string): void {
    if (isLater(newest, resourceVersion)) options.onOlderHub?.();
    newest = resourceVersion;
  }

  function karmadaPart(): Part {
    const clusters = informers.of(Cluster);
    const serves = (name: string): boolean =>
      members.serves(name) && clusters.get({ cluster: hub, name })?.spec.syncMode === "Pull";
    const deliveryFor = createDeliveries(
      (name) => members.memberFor(name)?.delivery,
      (name) => clusters.get({ cluster: hub, name }),
    );
    const execution = createExecution({
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

  function ocmPart(): Part {
    // In the process of a hub there are members of both ways; Karmada's face says which.
    const serves = (name: string): boolean =>
      members.serves(name) &&
      (!faces.karmada || informers.of(Cluster).get({ cluster: hub, name })?.spec.syncMode !== "Push");
    const memberFor: MemberFor = (name) => (serves(name) ? members.memberFor(name) : undefined);
    const { evictionGraceMs } = options;
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
      followClusters: faces.karmada,
      served: servedBy(members),
      memberInformers: members.objects,
      evictionGraceMs,
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

  const parts = [...(faces.karmada ? [karmadaPart()] : []), ...(faces.ocm ? [ocmPart()] : [])];
  const manager = createManager({
    client: faces.karmada ? withoutPatches(clientFor("agent"), informers.of(Work)) : clientFor("agent"),
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

/** Members that serve other kinds than before: works that wait for a kind are tried again at once. */
function servedBy(members: AgentMembers): Source<string> {
  return {
    start: (enqueue, signal) =>
      signal.addEventListener(
        "abort",
        members.onServed((cluster) => enqueue(cluster)),
        { once: true },
      ),
    isQuiet: () => true, // Told straight from informers, which answer for themselves.
  };
}

/** Both faces of a member look at it through one prober, which forgets it with the last of them. */
function untilGone(prober: Prober, isGone: (cluster: string) => boolean): Prober {
  return {
    ...prober,
    drop(cluster) {
      if (isGone(cluster)) prober.drop(cluster);
    },
  };
}

/**
 * A member that leaves keeps what it runs, as one that the hub reaches does; one wrapper each, since the stages tell
 * members apart by it.
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
      return cluster ? farewellOf(cluster) : "stays";
    });
    wrapped.set(name, { of: delivery, delivery: leaving });
    return leaving;
  };
}
