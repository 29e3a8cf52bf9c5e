/** A whole fleet on a fake clock, a seed and a store in memory: what controller and simulation tests run on. */
import { createFakeClock, createSeededRandom, silentLog } from "../../base/index.ts";
import type { FakeClock, Log } from "../../base/index.ts";
import type { Client, Transport } from "../../client/index.ts";
import { createHub } from "../../cmd/index.ts";
import type { Hub, HubOptions } from "../../cmd/index.ts";
import { createMemoryEngine } from "../../store/index.ts";
import type { Engine } from "../../store/index.ts";
import { countWrites } from "../count-writes.ts";
import type { WriteCount, WriteCounter } from "../count-writes.ts";
import { reconcileUntilQuiet } from "../reconcile-until-quiet.ts";
import { runClock } from "../run-clock.ts";

export interface TestFleetOptions {
  members: readonly string[];
  /** 0 gives members that store but run nothing. */
  nodes?: number;
  kruise?: "installed" | "none";
  seed?: number;
  log?: Log;
  engine?: Engine;
  /** Shared with another fleet; unset is one of its own. */
  clock?: FakeClock;
  /** Signs requests for certificates. */
  authority?: HubOptions["authority"];
  /**
   * With which service accounts' tokens are signed. One that is made when it is first needed takes real time, which no
   * fake clock waits for.
   */
  signingKey?: HubOptions["signingKey"];
  /** What no policy says about leaving members. */
  failover?: HubOptions["failover"];
  /** What the scheduler does beyond its defaults. */
  scheduling?: HubOptions["scheduling"];
  /** Which of the members are served by an agent. */
  pull?: HubOptions["pull"];
  /** As whom new agents of Open Cluster Management are let in without anybody looking. */
  autoApprovedUsers?: HubOptions["autoApprovedUsers"];
  /** How members are reached that are not simulated in this fleet. */
  connectMember?: HubOptions["connectMember"];
  /** Stands between a part of the fleet and the server, for example to hold it up. */
  wrap?(transport: Transport, part: string): Transport;
}

export interface TestFleet {
  hub: Hub;
  client: Client;
  clock: FakeClock;
  /** Writes of Flotilla's own parts since the last reset; `part` is `match`, `dispatch`, `execute`, `member`… */
  writes(): (WriteCount & { part: string })[];
  resetWrites(): void;
  /** Lets the controllers work until nothing moves at this moment. */
  settle(): Promise<void>;
  /** Moves the clock on, timer by timer, settling after each. */
  run(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** A store that outlives the fleets that are started on it, as a disk outlives a process. */
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
    wrap(transport, part) {
      const counter = countWrites(options.wrap?.(transport, part) ?? transport);
      counters.push({ part, counter });
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
