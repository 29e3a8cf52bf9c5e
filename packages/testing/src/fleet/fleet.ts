/** A whole fleet with a fake clock, a seed and an in-memory store, for controller and simulation tests. */
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { FakeClock, Log } from "@flotilla/base";
import type { Client, Transport } from "@flotilla/client";
import { createHub } from "@flotilla/server";
import type { Hub, HubOptions } from "@flotilla/server";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { countWrites } from "../count-writes.ts";
import type { WriteCount, WriteCounter } from "../count-writes.ts";
import { reconcileUntilQuiet } from "../reconcile-until-quiet.ts";
import { runClock } from "../run-clock.ts";

export interface TestFleetOptions {
  members: readonly string[];
  /** 0 creates members that store objects but run nothing. */
  nodes?: number;
  kruise?: "installed" | "none";
  seed?: number;
  log?: Log;
  engine?: Engine;
  /** Shared with another fleet; unset creates one. */
  clock?: FakeClock;
  /** Signs certificate requests. */
  authority?: HubOptions["authority"];
  /**
   * The signing key of service account tokens. Generating one on demand takes real time, which no fake clock waits for.
   */
  signingKey?: HubOptions["signingKey"];
  /** Failover defaults where no policy specifies them. */
  failover?: HubOptions["failover"];
  /** Scheduler options beyond the defaults. */
  scheduling?: HubOptions["scheduling"];
  /** The members that are served by an agent. */
  pull?: HubOptions["pull"];
  /** The users whose Open Cluster Management agents are approved automatically. */
  autoApprovedUsers?: HubOptions["autoApprovedUsers"];
  /** How members that are not simulated in this fleet are reached. */
  connectMember?: HubOptions["connectMember"];
  /** How interpreter webhooks are reached; a fake clock does not wait for a network. */
  connectWebhook?: HubOptions["connectWebhook"];
  /** Where interpreter scripts run that exceed their limits; a fake clock does not wait for a thread. */
  quarantine?: HubOptions["quarantine"];
  memberLimits?: HubOptions["memberLimits"];
  /** Whether the store accepts writes, as the hub reports it. */
  takesWrites?: HubOptions["takesWrites"];
  storeQuotaBytes?: HubOptions["storeQuotaBytes"];
  auditor?: HubOptions["auditor"];
  decisionsFile?: HubOptions["decisionsFile"];
  /** Wraps the transport between a component and the server, for example to delay it. */
  wrap?(transport: Transport, part: string): Transport;
}

export interface TestFleet {
  hub: Hub;
  client: Client;
  clock: FakeClock;
  /** Writes of Flotilla's components since the last reset; `part` is `match`, `dispatch`, `execute`, `member`… */
  writes(): (WriteCount & { part: string })[];
  resetWrites(): void;
  /** Runs the controllers until nothing is pending at the current time. */
  settle(): Promise<void>;
  /** Advances the clock, timer by timer, settling after each. */
  run(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** A store that outlives the fleets started on it, as a disk outlives a process. */
export function createLastingEngine(): Engine {
  return { ...createMemoryEngine(), close: () => Promise.resolve() };
}

export async function startTestFleet(options: TestFleetOptions): Promise<TestFleet> {
  const {
    members,
    nodes = 0,
    kruise = "installed",
    seed = 1,
    log = silentLog,
    engine = createMemoryEngine(),
  } = options;
  const { clock = createFakeClock() } = options;
  const stopping = new AbortController();
  const counters: { part: string; counter: WriteCounter }[] = [];
  const hub = await createHub({
    engine,
    clock,
    random: createSeededRandom(seed),
    log,
    kruise,
    nodes,
    freeze: true,
    signingKey: options.signingKey,
    failover: options.failover,
    scheduling: options.scheduling,
    authority: options.authority,
    pull: options.pull,
    autoApprovedUsers: options.autoApprovedUsers,
    connectMember: options.connectMember,
    connectWebhook: options.connectWebhook,
    quarantine: options.quarantine,
    memberLimits: options.memberLimits,
    takesWrites: options.takesWrites,
    storeQuotaBytes: options.storeQuotaBytes,
    auditor: options.auditor,
    decisionsFile: options.decisionsFile,
    wrap(transport, part) {
      const counter = countWrites(options.wrap?.(transport, part) ?? transport);
      // Decisions are not stored: they are lines of a log.
      if (part !== "decisions") counters.push({ part, counter });
      return counter.transport;
    },
  });
  const settle = (): Promise<void> => reconcileUntilQuiet({ managers: hub.managers, server: hub });
  const fleet: TestFleet = {
    hub,
    client: hub.client,
    clock,
    writes: () => counters.flatMap(({ part, counter }) => counter.counts().map((count) => ({ ...count, part }))),
    resetWrites: () => counters.forEach(({ counter }) => counter.reset()),
    settle,
    run: (ms) => runClock(clock, ms, settle),
    async stop() {
      stopping.abort();
      await hub.stop();
    },
  };
  await hub.start(stopping.signal);
  await hub.addMembers(members, (name) => `https://${name}.example.com`, stopping.signal);
  await fleet.run(1_000);
  return fleet;
}
