/**
 * A hub and a cluster that it cannot reach, each its own fleet on one fake clock, with an agent between them over a
 * connection that can be cut, and a hub that can be replaced by an older snapshot of itself.
 */
import { acceptMember, createAgent, createRealMember, joinCluster } from "@flotilla/flotilla";
import type { Agent } from "@flotilla/flotilla";
import { createSeededRandom, silentLog } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { createClient, UnreachableError } from "@flotilla/client";
import type { Client, Transport, TransportWatchEvent } from "@flotilla/client";
import type { HubOptions } from "@flotilla/server";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { Engine, Entry } from "@flotilla/apiserver";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { runClock } from "@flotilla/testing/run-clock.ts";

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };
export const CLUSTER = "paris";

export interface World {
  hub(): TestFleet;
  /** The cluster `paris`, in a separate process. */
  far: TestFleet;
  agent(): Agent;
  /** Requests of the agent to its hub since the last reset, including watches. */
  requests: { lists: number; writes: number; reads: number; refused: number };
  resetRequests(): void;
  setOnline(isOnline: boolean): void;
  /** A snapshot of the hub's store. */
  save(): Promise<readonly Entry[]>;
  /** Stops the hub and starts another from a snapshot. */
  restore(saved: readonly Entry[]): Promise<void>;
  restartAgent(): Promise<void>;
  run(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  authority?: HubOptions["authority"];
  /** The agent's clock. */
  agentClock?(clock: Clock): Clock;
  evictionGraceMs?: number;
}

export async function createWorld({ authority, agentClock, evictionGraceMs }: WorldOptions = {}): Promise<World> {
  const far = await startTestFleet({ members: [CLUSTER], seed: 7 });
  const { clock } = far;
  let engine: Engine = createMemoryEngine();
  const startHub = (): Promise<TestFleet> => startTestFleet({ members: [], clock, engine, authority });
  let hub = await startHub();
  let isOnline = true;
  let cut = new AbortController();
  const requests = { lists: 0, writes: 0, reads: 0, refused: 0 };

  function refuse(): void {
    if (isOnline) return;
    requests.refused++;
    throw new UnreachableError("the hub does not respond");
  }
  /** Always sends to the current hub. */
  const transport: Transport = {
    async send(request, signal) {
      refuse();
      requests[request.verb === "get" ? "reads" : request.verb === "list" ? "lists" : "writes"]++;
      return hub.hub.server.transport(ADMIN).send(request, signal);
    },
    async *watch(request, signal): AsyncGenerator<TransportWatchEvent[]> {
      refuse();
      if (request.query?.["sendInitialEvents"] === "true") requests.lists++;
      const stop = AbortSignal.any([signal, cut.signal]);
      yield* hub.hub.server.transport(ADMIN).watch(request, stop);
      if (!signal.aborted) throw new UnreachableError("the connection to the hub broke");
    },
    async raw(request, signal) {
      refuse();
      return hub.hub.server.transport(ADMIN).raw(request, signal);
    },
    close: async () => {},
  };
  const breakConnections = (): void => {
    cut.abort();
    cut = new AbortController();
  };

  let stopping = new AbortController();
  let members: ReturnType<typeof createRealMember>;
  function startAgent(): Agent {
    const shared = { clock: agentClock?.(clock) ?? clock, random: createSeededRandom(3), log: silentLog };
    members = createRealMember({
      cluster: CLUSTER,
      id: "paris-id",
      transport: far.hub.server.transport(ADMIN),
      ...shared,
    });
    const started = createAgent({
      hub: "hub",
      apis: { karmada: true, ocm: true },
      only: CLUSTER,
      clientFor: (part): Client => createClient({ transport, fieldManager: `flotilla-${part}` }),
      members,
      origin: { hubHash: "0".repeat(64), agentID: "a" },
      onOlderHub: () => void world.restartAgent(),
      evictionGraceMs,
      ...shared,
    });
    started.start(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
    return started;
  }
  async function stopAgent(): Promise<void> {
    stopping.abort();
    await agent.stop();
    members.close();
    stopping = new AbortController();
  }

  const signal = new AbortController().signal;
  await joinCluster(
    hub.client,
    "hub",
    { name: CLUSTER, apiEndpoint: "https://paris.example.com", id: "paris-id", syncMode: "Pull" },
    signal,
  );
  await acceptMember(hub.client, "hub", CLUSTER, signal);
  let agent = startAgent();

  const settle = (): Promise<void> =>
    reconcileUntilQuiet({
      managers: [...hub.hub.managers, ...far.hub.managers, agent.manager],
      server: hub.hub,
      others: [far.hub, agent],
    });
  const world: World = {
    hub: () => hub,
    far,
    agent: () => agent,
    requests,
    resetRequests: () => void Object.assign(requests, { lists: 0, writes: 0, reads: 0, refused: 0 }),
    setOnline(online) {
      isOnline = online;
      if (!online) breakConnections();
    },
    async save() {
      const entries: Entry[] = [];
      for await (const batch of engine.scan("/")) entries.push(...batch);
      return entries.sort((a, b) => a.revision - b.revision);
    },
    async restore(saved) {
      isOnline = false;
      breakConnections();
      await hub.stop();
      engine = createMemoryEngine();
      for (const { key, value } of saved) await engine.commit({ key, expect: "any", value });
      hub = await startHub();
      isOnline = true;
    },
    async restartAgent() {
      const old = agent;
      stopping.abort();
      stopping = new AbortController();
      members.close();
      agent = startAgent();
      await old.stop();
    },
    run: (ms) => runClock(clock, ms, settle),
    async stop() {
      await stopAgent();
      await hub.stop();
      await far.stop();
    },
  };
  await world.run(60_000);
  return world;
}
