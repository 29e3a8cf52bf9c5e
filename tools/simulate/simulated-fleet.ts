/**
 * A whole fleet in one thread: a hub process over a simulated disk, a cluster for each member in processes of their own,
 * agents of members that pull, and the connections between them. Processes can be killed and started again, and every
 * connection can have faults. Nothing in it waits for anything but the virtual clock.
 */
import { setImmediate } from "node:timers/promises";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, messageOf, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { createClient, UnreachableError } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { createAgent, createRealMember, flotillaUser } from "@flotilla/flotilla";
import type { Agent } from "@flotilla/flotilla";
import { createHub } from "@flotilla/server";
import type { Hub } from "@flotilla/server";
import { createSimulatedDisk } from "./disk.ts";
import type { SimulatedDisk, StoredWrite } from "./disk.ts";
import { createLink } from "./link.ts";
import type { Link } from "./link.ts";
import { createProcessClock } from "./process-clock.ts";
import type { ProcessClock } from "./process-clock.ts";
import { createTrace } from "./trace.ts";
import type { Trace } from "./trace.ts";

export interface MemberOptions {
  name: string;
  mode: "Push" | "Pull";
}

export interface FleetOptions {
  seed: number;
  members: readonly MemberOptions[];
  /** From bound to running, and from deletion to removal. */
  podMs: number;
  onHubWrite(write: StoredWrite): void;
  onMemberWrite(write: StoredWrite): void;
  /** The disk lied: acknowledged writes are gone. */
  onLostWrites(from: number): void;
  onEvent?(line: string): void;
}

/** A process that can be killed. */
interface Running {
  clock: ProcessClock;
  stopping: AbortController;
  isDead: boolean;
}

interface HubRunning extends Running {
  hub: Hub;
}

interface AgentRunning extends Running {
  agent: Agent;
  close(): void;
}

export interface SimulatedFleet {
  clock: FakeClock;
  trace: Trace;
  disk: SimulatedDisk;
  /** Undefined while the process is down. */
  hub(): Hub | undefined;
  members: Hub;
  /** An administrator's client of the hub; requests fail while the hub is down. */
  user: Client;
  /** An administrator's client of the members. */
  memberUser: Client;
  links: ReadonlyMap<string, Link>;
  /** Requests that would change something, since the last reset. */
  writes: string[];
  startHub(): Promise<void>;
  killHub(): Promise<void>;
  /** The hub is killed at the `calls`th request or event of its parts from now on. */
  killHubAfter(calls: number): void;
  killAgent(member: string): void;
  startAgent(member: string): void;
  hasAgent(member: string): boolean;
  /** Moves the wall clock of the hub, of a member's agent or of the members. */
  jump(process: string, byMs: number): void;
  correctClocks(): void;
  run(ms: number): Promise<void>;
  stop(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const READS: ReadonlySet<string> = new Set(["get", "list"]);
/** Written by heartbeats, for as long as a process runs. */
const HEARTBEATS: ReadonlySet<string> = new Set(["leases"]);
/** Turns of the event loop without anything happening after which nothing more happens before the clock moves. */
const QUIET_TURNS = 12;
const STILL_TURNS = 40;
const MAX_TURNS = 20_000;
const RESTART_MS = 2_000;
/** Tokens are not part of what is simulated, and making a key takes real time. */
const signingKey = (): Promise<string> => Promise.reject(new Error("no service account tokens in this simulation"));
const TIMES = { periodMs: 10_000, successMs: 0, failureMs: 30_000 };

export async function startSimulatedFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const clock = createFakeClock();
  const trace = createTrace(options.onEvent);
  const random = createSeededRandom(options.seed);
  const seeded = (): ReturnType<typeof createSeededRandom> => createSeededRandom(Math.floor(random.next() * 2 ** 32));
  const disk = createSimulatedDisk({
    random: seeded(),
    onWrite(write) {
      trace.add(clock.now(), `hub ${write.revision} ${write.key} ${write.value?.length ?? "deleted"}`);
      options.onHubWrite(write);
    },
    onLost: options.onLostWrites,
  });
  const offsets = new Map<string, number>();
  const links = new Map<string, Link>();
  const writes: string[] = [];
  const agents = new Map<string, AgentRunning>();
  let hub: HubRunning | undefined;
  /** Requests and events of the hub until it is killed. */
  let callsLeft: number | undefined;
  let isKillDue = false;
  let isStarting = false;
  let isStopping = false;

  const linkFor = (name: string, onCall: (what: string) => void): Link => {
    const known = links.get(name);
    if (known) return known;
    const link = createLink({
      name,
      clock,
      random: seeded(),
      onCall(from, what) {
        trace.add(clock.now(), `${from} ${what}`);
        onCall(what);
      },
    });
    links.set(name, link);
    return link;
  };
  /** Fails once its process has ended, and counts what it asks for. */
  const ofProcess = (process: Running, transport: Transport, from: string): Transport => {
    const check = (): void => {
      if (process.isDead) throw new UnreachableError("the process has ended");
    };
    return {
      async send(request, signal) {
        await Promise.resolve();
        check();
        if (!READS.has(request.verb) && !HEARTBEATS.has(request.path.resource))
          writes.push(
            `${from} ${request.verb} ${request.path.resource}${request.path.subresource ? `/${request.path.subresource}` : ""} ${request.path.cluster}/${request.path.namespace ?? ""}/${request.path.name ?? ""}`,
          );
        const answer = await transport.send(request, signal);
        check();
        return answer;
      },
      async *watch(request, signal) {
        check();
        for await (const events of transport.watch(request, AbortSignal.any([signal, process.stopping.signal]))) {
          check();
          yield events;
        }
      },
      async raw(request, signal) {
        await Promise.resolve();
        check();
        return transport.raw(request, signal);
      },
      close: () => Promise.resolve(),
    };
  };
  const countHubCall = (): void => {
    if (callsLeft === undefined || --callsLeft > 0) return;
    callsLeft = undefined;
    isKillDue = true;
    // What was asked for and not flushed is decided by the crash.
    disk.hold();
    if (hub) hub.isDead = true;
  };
  const beginProcess = (name: string): Running => ({
    clock: createProcessClock(clock, offsets.get(name) ?? 0),
    stopping: new AbortController(),
    isDead: false,
  });

  const memberEngine = observed(createMemoryEngine(), (write) => {
    trace.add(clock.now(), `members ${write.revision} ${write.key} ${write.value?.length ?? "deleted"}`);
    options.onMemberWrite(write);
  });
  const membersProcess = beginProcess("members");
  const members = await createHub({
    engine: memberEngine,
    clock: membersProcess.clock,
    random: seeded(),
    log: silentLog,
    kruise: "installed",
    nodes: 1,
    times: { startMs: options.podMs, restartMs: options.podMs, stopMs: options.podMs },
    signingKey,
  });
  await members.start(membersProcess.stopping.signal);
  await members.addMembers(
    options.members.map(({ name }) => name),
    (name) => `https://${name}.example.com`,
    membersProcess.stopping.signal,
  );

  async function startHub(): Promise<void> {
    if (hub || isStarting || isStopping) return;
    isStarting = true;
    const process = beginProcess("hub");
    const api = linkFor("hub api", countHubCall);
    const engine = await disk.open();
    let created: Hub;
    try {
      created = await createHub({
        engine,
        clock: process.clock,
        random: seeded(),
        log: silentLog,
        kruise: "installed",
        nodes: 0,
        signingKey,
        membershipTimes: TIMES,
        wrap: (transport, part) => ofProcess(process, api.wrap(transport), `hub ${part}`),
        connectMember: (name) =>
          Promise.resolve(
            ofProcess(
              process,
              linkFor(`hub to ${name}`, countHubCall).wrap(members.server.transport(flotillaUser("controllers"))),
              `hub to ${name}`,
            ),
          ),
      });
    } catch (error) {
      trace.add(clock.now(), `hub does not start: ${messageOf(error)}`);
      process.isDead = true;
      process.clock.end();
      await disk.crash();
      isStarting = false;
      clock.after(RESTART_MS, () => void startHub());
      return;
    }
    isStarting = false;
    hub = Object.assign(process, { hub: created });
    const started = hub;
    created.start(process.stopping.signal).catch((error: unknown) => {
      if (process.stopping.signal.aborted || started.isDead) return;
      trace.add(clock.now(), `hub ends: ${messageOf(error)}`);
      isKillDue = true;
    });
  }

  async function killHub(): Promise<void> {
    const old = hub;
    hub = undefined;
    callsLeft = undefined;
    isKillDue = false;
    if (!old) return;
    trace.add(clock.now(), "hub killed");
    end(old);
    await disk.crash();
    breakConnections();
    void old.hub.stop().catch((error: unknown) => trace.add(clock.now(), `hub stops: ${messageOf(error)}`));
    await turns(STILL_TURNS);
  }
  function end(process: Running): void {
    process.isDead = true;
    process.clock.end();
    process.stopping.abort();
  }
  const breakConnections = (): void => {
    for (const [name, link] of links) if (name.startsWith("agent of")) link.endWatches();
  };

  /** To the hub that runs now. */
  const toHub: Transport = {
    async send(request, signal) {
      return transportNow().send(request, signal);
    },
    async *watch(request, signal) {
      yield* transportNow().watch(request, signal);
    },
    async raw(request, signal) {
      return transportNow().raw(request, signal);
    },
    close: () => Promise.resolve(),
  };
  function transportNow(): Transport {
    if (!hub || hub.isDead) throw new UnreachableError("the hub is down");
    return hub.hub.server.transport(ADMIN);
  }

  function startAgent(name: string): void {
    if (agents.has(name) || isStopping) return;
    const process = beginProcess(`agent of ${name}`);
    const shared = { clock: process.clock, random: seeded(), log: silentLog };
    const served = createRealMember({
      cluster: name,
      id: `${name}-id`,
      transport: ofProcess(process, members.server.transport(ADMIN), `agent of ${name}`),
      ...shared,
    });
    const link = linkFor(`agent of ${name}`, () => {});
    const agent = createAgent({
      hub: "hub",
      apis: { karmada: true, ocm: true },
      only: name,
      clientFor: (part): Client =>
        createClient({
          transport: ofProcess(process, link.wrap(toHub), `agent of ${name}`),
          fieldManager: `flotilla-${part}`,
        }),
      members: served,
      origin: { hubHash: "0".repeat(64), agentID: name },
      onOlderHub: () => {
        trace.add(clock.now(), `agent of ${name} finds an older hub`);
        killAgent(name);
        clock.after(RESTART_MS, () => startAgent(name));
      },
      times: TIMES,
      ...shared,
    });
    agent.start(process.stopping.signal).catch((error: unknown) => {
      if (process.stopping.signal.aborted) return;
      trace.add(clock.now(), `agent of ${name} ends: ${messageOf(error)}`);
      killAgent(name);
      clock.after(RESTART_MS, () => startAgent(name));
    });
    agents.set(name, Object.assign(process, { agent, close: () => served.close() }));
  }
  function killAgent(name: string): void {
    const old = agents.get(name);
    agents.delete(name);
    if (!old) return;
    trace.add(clock.now(), `agent of ${name} killed`);
    end(old);
    old.close();
    void old.agent.stop().catch((error: unknown) => trace.add(clock.now(), `agent stops: ${messageOf(error)}`));
  }

  async function settle(): Promise<void> {
    let quiet = 0;
    let still = 0;
    let last = trace.length;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (isKillDue) {
        await turns(2);
        await killHub();
        clock.after(RESTART_MS, () => void startHub());
      }
      const isStill = trace.length === last;
      last = trace.length;
      still = isStill ? still + 1 : 0;
      quiet = isStill && isQuiet() ? quiet + 1 : 0;
      if (quiet > QUIET_TURNS || still > STILL_TURNS) return;
      await setImmediate();
    }
    throw new Error(`still busy after ${MAX_TURNS} turns of the event loop`);
  }
  const isQuiet = (): boolean =>
    members.isQuiet() &&
    members.managers.every((manager) => manager.isQuiet()) &&
    (!hub || (hub.hub.isQuiet() && hub.hub.managers.every((manager) => manager.isQuiet()))) &&
    Array.from(agents.values()).every(({ agent }) => agent.isQuiet() && agent.manager.isQuiet());

  const fleet: SimulatedFleet = {
    clock,
    trace,
    disk,
    hub: () => hub?.hub,
    members,
    user: createClient({ transport: toHub, fieldManager: "kubectl" }),
    memberUser: createClient({ transport: members.server.transport(ADMIN), fieldManager: "kubectl" }),
    links,
    writes,
    startHub,
    killHub,
    killHubAfter(calls) {
      callsLeft = calls;
    },
    killAgent,
    startAgent,
    hasAgent: (name) => agents.has(name),
    jump(name, byMs) {
      offsets.set(name, (offsets.get(name) ?? 0) + byMs);
      const process =
        name === "hub" ? hub : name === "members" ? membersProcess : agents.get(name.slice("agent of ".length));
      process?.clock.jump(byMs);
    },
    correctClocks() {
      for (const [name, offset] of offsets) fleet.jump(name, -offset);
    },
    async run(ms) {
      const until = clock.now() + ms;
      await settle();
      for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
        clock.advance(Math.max(0, due - clock.now()));
        await settle();
      }
      clock.advance(until - clock.now());
      await settle();
    },
    async stop() {
      isStopping = true;
      for (const name of agents.keys()) killAgent(name);
      await killHub();
      end(membersProcess);
      await members.stop();
    },
  };
  await startHub();
  await settle();
  return fleet;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** Reports every write in the order in which the engine decided them. */
function observed(engine: Engine, onWrite: (write: StoredWrite) => void): Engine {
  let last = 0;
  return {
    ...engine,
    async commit(write) {
      const outcome = await engine.commit(write);
      if (outcome.ok && outcome.revision > last) {
        last = outcome.revision;
        onWrite({ key: write.key, value: write.value, revision: outcome.revision });
      }
      return outcome;
    },
  };
}
