/**
 * The hub's controllers against an API server anywhere. Every group, and every shard of `delivery`, has a Lease, and of
 * several processes one leads it. The others are warm: they have read everything that the controllers read. One that takes
 * over lists it again, because its watches may be behind (docs/adr/0084).
 *
 * A process that loses one of its Leases stops all its groups and starts over. That is rare, and its usual cause, an API
 * server that does not answer, concerns all Leases.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import { abortable, invariant, sleep, VERSION } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import type { ControllerOptions } from "@flotilla/cli";
import { createClient, UnreachableError } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import {
  createEventRecorders,
  createInformers,
  createLeaderElection,
  createWriteThroughClient,
  fenceTransport,
} from "@flotilla/controller-runtime";
import type { EventRecorders, Leadership } from "@flotilla/controller-runtime";
import {
  CONTROLLER_GROUPS,
  controllersLease,
  createDecisions,
  createMonitoring,
  shardOf,
  shardOfLease,
  WHOLE,
} from "@flotilla/flotilla";
import type { ConnectMember, ControllerGroup, Shard } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { directClusters } from "../elsewhere/stored-clusters.ts";
import { CONTROLLER_LEASE_TIMES, renewUnelected } from "./controllers-lease.ts";
import { createHubControllers } from "./hub-controllers.ts";
import type { HubControllers } from "./hub-controllers.ts";
import { createHubMetrics } from "./hub-metrics.ts";
import type { HubMetrics } from "./hub-metrics.ts";
import { createHubReaders } from "./hub-readers.ts";
import { startParts, stopParts } from "./process-parts.ts";
import type { Part } from "./process-parts.ts";
import { readWorkOrigin } from "./work-origin.ts";

export interface RunControllersOptions extends ControllerOptions {
  /** To the hub, with the identity of the controllers. */
  transport: Transport;
  /** The same for the Leases, so that renewals do not wait behind other requests. */
  leases: Transport;
  clock: Clock;
  random: Random;
  /** Milliseconds on a clock that is never corrected. */
  elapsedMs(): number;
  log: Log;
  /** Unique to this process. */
  identity: string;
  /** Unset: all. */
  groups?: readonly ControllerGroup[] | undefined;
  /** The members that this process delivers to; unset: all. */
  shard?: Shard | undefined;
  /** Without an election the groups start at once; nothing but the end of the process stops them. */
  elects: boolean;
  /** Connects to members; over the network if unset. */
  connectMember?: ConnectMember | undefined;
  /** Called when this process leads a group, and when another one does; `leader` is empty if that one is unknown. */
  onStanding?(group: ControllerGroup, standing: "leading" | { leader: string }): void;
  /** Called with everything that runs, from when it has read the hub; undefined when it stopped. */
  onTerm?(term: ControllersTerm | undefined): void;
  /** Called when this process has lost a Lease and all its groups have stopped. */
  onLost?(): void;
}

/** What one term consists of, for metrics and tests. */
export interface ControllersTerm {
  controllers: HubControllers;
  metrics: HubMetrics;
  isQuiet(): boolean;
}

/** How often a candidate looks who leads. */
const STANDING_POLL_MS = 250;
/** Between looks at shards of another number. */
const RIVAL_POLL_MS = 500;

/** Runs until the signal aborts; a process that lost its Leases stands for them again. */
export async function runControllers(options: RunControllersOptions, signal: AbortSignal): Promise<void> {
  const { shard = WHOLE } = options;
  invariant(shard.index < shard.count, "the index of a shard is less than their number");
  while (!signal.aborted) {
    try {
      if ((await runTerm(options, shard, signal)) === "lost" && !signal.aborted) options.onLost?.();
    } catch (error) {
      // A stop in the middle of a start ends it with the signal's reason.
      if (!signal.aborted) throw error;
    }
  }
}

async function runTerm(options: RunControllersOptions, shard: Shard, signal: AbortSignal): Promise<"ended" | "lost"> {
  const { groups = CONTROLLER_GROUPS } = options;
  const lost = new AbortController();
  const over = AbortSignal.any([signal, lost.signal]);
  /** Of the groups that this process leads. */
  const led = new Map<ControllerGroup, Leadership>();
  const fence: Leadership = {
    get fence() {
      const fences = Array.from(led.values()).flatMap((leadership) => leadership.fence ?? []);
      return fences.length > 0 ? fences.join(",") : undefined;
    },
    check() {
      lost.signal.throwIfAborted();
      for (const leadership of led.values()) leadership.check();
    },
  };
  /**
   * What another process wrote while it led must be known before anything is decided. A Lease that was won shows that one
   * API server is current, and not that those are whose watches this process reads.
   */
  const readAgain = shared(options, () => term.refresh(over), over);
  const term = await startTerm(options, shard, { fence, isLeading: () => led.size > 0 }, over);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= term.stop());
  options.onTerm?.(term);

  const lead = async (group: ControllerGroup, leadership: Leadership, ends: AbortSignal): Promise<void> => {
    led.set(group, leadership);
    if (options.elects) await readAgain(ends);
    if (!ends.aborted) {
      term.controllers.run(group);
      options.log.info("leading", { group });
      options.onStanding?.(group, "leading");
    }
    await untilAborted(ends);
    if (!signal.aborted) lost.abort();
    // Before the Lease is released: the next leader starts at once.
    await stop();
  };
  try {
    const client = createClient({ transport: options.leases, fieldManager: "flotilla-controllers" });
    const candidate = { ...options, client };
    await Promise.all(
      groups.map((group) =>
        options.elects
          ? standFor(candidate, group, group === "delivery" ? shard : WHOLE, lead, over)
          : leadUnelected(candidate, group, group === "delivery" ? shard : WHOLE, lead, over),
      ),
    );
  } catch (error) {
    lost.abort();
    throw error;
  } finally {
    options.onTerm?.(undefined);
    await stop();
  }
  return lost.signal.aborted ? "lost" : "ended";
}

/** Groups win their Leases within moments, and share one list. */
const SHARED_WITHIN_MS = 50;

/** Calls that come within moments share one, which begins after all of them. It ends with the term, or for a caller with `ends`. */
function shared(
  { clock }: Pick<RunControllersOptions, "clock">,
  work: () => Promise<void>,
  over: AbortSignal,
): (ends: AbortSignal) => Promise<void> {
  let gathering: Promise<void> | undefined;
  return async (ends) => {
    gathering ??= sleep(clock, SHARED_WITHIN_MS, over).then(() => {
      gathering = undefined;
      return work();
    });
    try {
      await abortable(gathering, ends);
    } catch (error) {
      if (!over.aborted && !ends.aborted) throw error;
    }
  };
}

type Lead = (group: ControllerGroup, leadership: Leadership, ends: AbortSignal) => Promise<void>;
type Candidate = RunControllersOptions & { client: Client };

const leaseKey = (group: ControllerGroup, shard: Shard) => ({
  cluster: HUB,
  namespace: KARMADA_SYSTEM_NAMESPACE,
  name: controllersLease(group, shard),
});

/** Stands for the Lease of one group until the term is over. */
async function standFor(
  candidate: Candidate,
  group: ControllerGroup,
  shard: Shard,
  lead: Lead,
  over: AbortSignal,
): Promise<void> {
  const { clock, random, onStanding } = candidate;
  const election = createLeaderElection({ ...candidate, lease: leaseKey(group, shard), times: CONTROLLER_LEASE_TIMES });
  const stopWatching = watchStanding(clock, () => {
    if (!election.isLeader && election.leader !== "") onStanding?.(group, { leader: election.leader });
  });
  try {
    while (!over.aborted)
      await election.run(async (ends, leadership) => {
        const rival = group === "delivery" ? await findRival(candidate, shard, ends) : undefined;
        if (rival === undefined) return lead(group, leadership, ends);
        candidate.log.warn("waiting for controllers with another number of shards to stop", { lease: rival });
        onStanding?.(group, { leader: rival });
        // Not at the same time as others that wait.
        await sleep(clock, RIVAL_POLL_MS * (1 + random.next()), ends).catch(() => ends.throwIfAborted());
      }, over);
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    stopWatching();
  }
}

async function leadUnelected(
  candidate: Candidate,
  group: ControllerGroup,
  shard: Shard,
  lead: Lead,
  over: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const renewal = renewUnelected(
    { ...candidate, lease: leaseKey(group, shard) },
    AbortSignal.any([over, ended.signal]),
  );
  try {
    await lead(group, { check: () => {} }, over);
  } finally {
    ended.abort();
    await renewal;
  }
}

/**
 * The Lease of a running shard of another number; undefined if there is none. Two numbers of shards would both deliver to
 * a member. It is called by a process that holds its own Lease, so of two that look at the same time at least one sees
 * the other; a process that was first has already looked and continues.
 */
async function findRival({ client, clock }: Candidate, shard: Shard, signal: AbortSignal): Promise<string | undefined> {
  const held = async (): Promise<DeepReadonly<Lease>[]> =>
    (await client.list(Lease, { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, signal })).items.filter(
      ({ metadata, spec }) => {
        const other = shardOfLease(metadata.name);
        return other !== undefined && other.count !== shard.count && Boolean(spec?.holderIdentity);
      },
    );
  const first = await held();
  const renewals = new Map(first.map(({ metadata, spec }) => [metadata.name, spec?.renewTime]));
  // One that was killed still holds its Lease, and does not renew it.
  for (let passedMs = 0; renewals.size > 0 && passedMs <= CONTROLLER_LEASE_TIMES.leaseDurationMs;) {
    await sleep(clock, RIVAL_POLL_MS, signal);
    passedMs += RIVAL_POLL_MS;
    const now = await held();
    const renewed = now.find(({ metadata, spec }) => renewals.get(metadata.name) !== spec?.renewTime);
    if (renewed) return renewed.metadata.name;
    for (const name of renewals.keys()) if (!now.some(({ metadata }) => metadata.name === name)) renewals.delete(name);
  }
  return undefined;
}

/** Calls `look` periodically until the returned function is called. */
function watchStanding(clock: Clock, look: () => void): () => void {
  let timer = clock.after(STANDING_POLL_MS, tick);
  function tick(): void {
    look();
    timer = clock.after(STANDING_POLL_MS, tick);
  }
  return () => timer.cancel();
}

/** Reads the hub, and runs no group yet. */
async function startTerm(
  options: RunControllersOptions,
  shard: Shard,
  { fence, isLeading }: { fence: Leadership; isLeading(): boolean },
  signal: AbortSignal,
): Promise<ControllersTerm & { refresh(ends: AbortSignal): Promise<void>; stop(): Promise<void> }> {
  const { clock, random, log } = options;
  const direct = await whenAnswered(() => directClusters(options.transport, signal), options, signal);
  const transport = fenceTransport(direct, fence, true);
  const client = createClient({ transport, fieldManager: "flotilla-system" });
  const origin = await whenAnswered(() => readWorkOrigin(client, HUB), options, signal);
  const informers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
  const clientFor = (part: string): Client =>
    createWriteThroughClient(createClient({ transport, fieldManager: `flotilla-${part}` }), [informers]);
  const events = createEventRecorders({ client: clientFor("events"), clock, log });
  // The interpreter reports the state of scripts also where no group runs; the leader reports the same.
  const recorders: EventRecorders = (component) => {
    const recorder = events.recorders(component);
    return { ...recorder, record: (...event) => (isLeading() ? recorder.record(...event) : undefined) };
  };
  const decisions = createDecisions({ client: clientFor("decisions"), hub: HUB, clock, log });
  const onHub = { hub: HUB, informers, events: recorders, clock, random, log };
  const monitoring = createMonitoring({ ...onHub, version: VERSION });
  const readers = createHubReaders({
    ...onHub,
    client: clientFor("discovery"),
    connectMember: options.connectMember,
    measure: (member, name) => fenceTransport(monitoring.requests.around(member, name), fence),
    memberLimits: options.memberLimits,
    scheduling: options.scheduling,
  });
  const controllers = createHubControllers({
    ...onHub,
    clientFor,
    decisions,
    sources: readers.sources,
    monitoring,
    origin,
    deliversTo: shard.count === 1 ? undefined : (member) => shardOf(member, shard.count) === shard.index,
    membershipTimes: options.membership,
    failover: options.failover,
    autoApprovedUsers: options.autoApprovedUsers,
  });
  const metrics = createHubMetrics({
    hub: HUB,
    monitoring,
    decisions,
    writeInterpreterMetrics: readers.writeInterpreterMetrics,
    templates: readers.sources.views.templates,
    membership: controllers.membership,
    informers,
    managers: () => [controllers.manager],
    lanes: controllers.lanes,
  });
  const parts: readonly Part[] = [
    { stop: () => informers.close() },
    events,
    { stop: () => decisions.stop() },
    metrics,
    readers,
    { start: controllers.standBy, stop: controllers.stop },
  ];
  try {
    await startParts(parts, signal);
    await informers.whenSynced(signal);
  } catch (error) {
    await stopParts(parts);
    throw error;
  }
  return {
    controllers,
    metrics,
    refresh: (ends) => informers.refresh(ends),
    isQuiet: () => informers.isQuiet() && controllers.isQuiet() && events.isQuiet() && decisions.isQuiet(),
    stop: () => stopParts(parts),
  };
}

/** Repeats a read until the server answers. */
async function whenAnswered<T>(
  read: () => Promise<T>,
  { clock, log }: Pick<RunControllersOptions, "clock" | "log">,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isAway =
        error instanceof UnreachableError || (error instanceof ApiError && (error.status.code ?? 0) >= 500);
      if (!isAway) throw error;
      log.debug("the hub was not read, retrying", { error });
    }
    await sleep(clock, CONTROLLER_LEASE_TIMES.retryMs, signal);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
