/**
 * A whole fleet in one thread: a hub process over a simulated disk, a cluster for each member in processes of their own,
 * agents of members that pull, and the connections between them. Processes can be killed and started again, and every
 * connection can have faults. Nothing in it waits for anything but the virtual clock.
 */
import { createMemoryEngine } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, messageOf, silentLog } from "@flotilla/base";
import type { FakeClock, Random } from "@flotilla/base";
import { createClient, UnreachableError } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { flotillaUser } from "@flotilla/flotilla";
import { createHub } from "@flotilla/server";
import type { Hub } from "@flotilla/server";
import { createSimulatedDisk } from "./disk.ts";
import type { SimulatedDisk, StoredWrite } from "./disk.ts";
import { createLink } from "./link.ts";
import type { Link } from "./link.ts";
import { createProcessClock } from "./process-clock.ts";
import { settle, STILL_TURNS, turns } from "./settle.ts";
import { createSimulatedAgents } from "./simulated-agents.ts";
import { currentTransport, endProcess, ofProcess, type SimulatedProcess } from "./simulated-process.ts";
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

interface HubRunning extends SimulatedProcess {
  hub: Hub;
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
const RESTART_MS = 2_000;
/** Tokens are not part of what is simulated, and making a key takes real time. */
const signingKey = (): Promise<string> => Promise.reject(new Error("no service account tokens in this simulation"));
const TIMES = { periodMs: 10_000, successMs: 0, failureMs: 30_000 };

export async function startSimulatedFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const clock = createFakeClock();
  const trace = createTrace(options.onEvent);
  const random = createSeededRandom(options.seed);
  const seeded = (): Random => createSeededRandom(Math.floor(random.next() * 2 ** 32));
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
  let hub: HubRunning | undefined;
  /** Requests and events of the hub until it is killed. */
  let callsLeft: number | undefined;
  let isKillDue = false;
  let isStarting = false;
  let isStopping = false;

  const linkFor = createLinks({ clock, trace, links, seeded });
  const note = (what: string): void => void writes.push(what);
  const countHubCall = (): void => {
    if (callsLeft === undefined || --callsLeft > 0) return;
    callsLeft = undefined;
    isKillDue = true;
    // What was asked for and not flushed is decided by the crash.
    disk.hold();
    if (hub) hub.isDead = true;
  };
  const beginProcess = (name: string): SimulatedProcess => ({
    clock: createProcessClock(clock, offsets.get(name) ?? 0),
    stopping: new AbortController(),
    isDead: false,
  });

  const memberEngine = observed(createMemoryEngine(), (write) => {
    trace.add(clock.now(), `members ${write.revision} ${write.key} ${write.value?.length ?? "deleted"}`);
    options.onMemberWrite(write);
  });
  const membersProcess = beginProcess("members");
  const members = await startMembers(options, { engine: memberEngine, process: membersProcess, random: seeded() });

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
        wrap: (transport, part) => ofProcess(process, api.wrap(transport), `hub ${part}`, note),
        connectMember: (name) =>
          Promise.resolve(
            ofProcess(
              process,
              linkFor(`hub to ${name}`, countHubCall).wrap(members.server.transport(flotillaUser("controllers"))),
              `hub to ${name}`,
              note,
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
    endProcess(old);
    await disk.crash();
    for (const [name, link] of links) if (name.startsWith("agent of")) link.endWatches();
    void old.hub.stop().catch((error: unknown) => trace.add(clock.now(), `hub stops: ${messageOf(error)}`));
    await turns(STILL_TURNS);
  }
  function transportNow(): Transport {
    if (!hub || hub.isDead) throw new UnreachableError("the hub is down");
    return hub.hub.server.transport(ADMIN);
  }

  /** The hub that runs now. */
  const toHub = currentTransport(transportNow);
  const agents = createSimulatedAgents({
    clock,
    trace,
    times: TIMES,
    restartMs: RESTART_MS,
    seeded,
    beginProcess,
    linkOf: (name) => linkFor(name, () => {}),
    toMember: (process, from) => ofProcess(process, members.server.transport(ADMIN), from, note),
    toHub: (process, link, from) => ofProcess(process, link.wrap(toHub), from, note),
  });
  const settled = (): Promise<void> =>
    settle({
      trace,
      isQuiet,
      async before() {
        if (!isKillDue) return;
        await turns(2);
        await killHub();
        clock.after(RESTART_MS, () => void startHub());
      },
    });
  const isQuiet = (): boolean => isHubQuiet(members) && (!hub || isHubQuiet(hub.hub)) && agents.isQuiet();

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
    killAgent: agents.kill,
    startAgent: agents.start,
    hasAgent: (name) => agents.of(name) !== undefined,
    jump(name, byMs) {
      offsets.set(name, (offsets.get(name) ?? 0) + byMs);
      const process =
        name === "hub" ? hub : name === "members" ? membersProcess : agents.of(name.slice("agent of ".length));
      process?.clock.jump(byMs);
    },
    correctClocks() {
      for (const [name, offset] of offsets) fleet.jump(name, -offset);
    },
    run: (ms) => runFor(ms, clock, settled),
    async stop() {
      isStopping = true;
      agents.stop();
      await killHub();
      endProcess(membersProcess);
      await members.stop();
    },
  };
  await startHub();
  await settled();
  return fleet;
}

const isHubQuiet = (hub: Hub): boolean => hub.isQuiet() && hub.managers.every((manager) => manager.isQuiet());

/** Moves the clock from one timer to the next, and lets everything that is due finish. */
async function runFor(ms: number, clock: FakeClock, settled: () => Promise<void>): Promise<void> {
  const until = clock.now() + ms;
  await settled();
  for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
    clock.advance(Math.max(0, due - clock.now()));
    await settled();
  }
  clock.advance(until - clock.now());
  await settled();
}

/** The clusters of all members, in one process. */
async function startMembers(
  { podMs, members: joined }: Pick<FleetOptions, "podMs" | "members">,
  { engine, process, random }: { engine: Engine; process: SimulatedProcess; random: Random },
): Promise<Hub> {
  const members = await createHub({
    engine,
    clock: process.clock,
    random,
    log: silentLog,
    kruise: "installed",
    nodes: 1,
    times: { startMs: podMs, restartMs: podMs, stopMs: podMs },
    signingKey,
  });
  await members.start(process.stopping.signal);
  await members.addMembers(
    joined.map(({ name }) => name),
    (name) => `https://${name}.example.com`,
    process.stopping.signal,
  );
  return members;
}

/** Returns the link of a name, and creates it at its first use. */
function createLinks({
  clock,
  trace,
  links,
  seeded,
}: {
  clock: FakeClock;
  trace: Trace;
  links: Map<string, Link>;
  seeded(): Random;
}): (name: string, onCall: (what: string) => void) => Link {
  return (name, onCall) => {
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
