/** The agents of members that pull, each a process of its own that starts again when it ends by itself. */
import { messageOf, silentLog } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { createAgent, createRealMember } from "@flotilla/flotilla";
import type { Agent } from "@flotilla/flotilla";
import type { Link } from "./link.ts";
import { endProcess, type SimulatedProcess } from "./simulated-process.ts";
import type { Trace } from "./trace.ts";

interface AgentRunning extends SimulatedProcess {
  agent: Agent;
  close(): void;
}

interface Dependencies {
  clock: Clock;
  trace: Trace;
  times: Parameters<typeof createAgent>[0]["times"];
  restartMs: number;
  /** A generator of random numbers of its own for each agent. */
  seeded(): Random;
  beginProcess(name: string): SimulatedProcess;
  linkOf(name: string): Link;
  /** To a member, for as long as the process runs. */
  toMember(process: SimulatedProcess, from: string): Transport;
  /** To the hub, for as long as the process runs. */
  toHub(process: SimulatedProcess, link: Link, from: string): Transport;
}

export interface SimulatedAgents {
  start(name: string): void;
  kill(name: string): void;
  /** Undefined while it does not run. */
  of(name: string): SimulatedProcess | undefined;
  isQuiet(): boolean;
  /** Kills all of them, for good. */
  stop(): void;
}

export function createSimulatedAgents(deps: Dependencies): SimulatedAgents {
  const { clock, trace, times, restartMs, seeded, beginProcess } = deps;
  const agents = new Map<string, AgentRunning>();
  let isStopping = false;

  function start(name: string): void {
    if (agents.has(name) || isStopping) return;
    const process = beginProcess(`agent of ${name}`);
    const shared = { clock: process.clock, random: seeded(), log: silentLog };
    const served = createRealMember({
      cluster: name,
      id: `${name}-id`,
      transport: deps.toMember(process, `agent of ${name}`),
      ...shared,
    });
    const link = deps.linkOf(`agent of ${name}`);
    const agent = createAgent({
      hub: "hub",
      apis: { karmada: true, ocm: true },
      only: name,
      clientFor: (part): Client =>
        createClient({
          transport: deps.toHub(process, link, `agent of ${name}`),
          fieldManager: `flotilla-${part}`,
        }),
      members: served,
      origin: { hubHash: "0".repeat(64), agentID: name },
      onOlderHub: () => {
        trace.add(clock.now(), `agent of ${name} finds an older hub`);
        kill(name);
        clock.after(restartMs, () => start(name));
      },
      times,
      ...shared,
    });
    agent.start(process.stopping.signal).catch((error: unknown) => {
      if (process.stopping.signal.aborted) return;
      trace.add(clock.now(), `agent of ${name} ends: ${messageOf(error)}`);
      kill(name);
      clock.after(restartMs, () => start(name));
    });
    agents.set(name, Object.assign(process, { agent, close: () => served.close() }));
  }
  function kill(name: string): void {
    const old = agents.get(name);
    agents.delete(name);
    if (!old) return;
    trace.add(clock.now(), `agent of ${name} killed`);
    endProcess(old);
    old.close();
    void old.agent.stop().catch((error: unknown) => trace.add(clock.now(), `agent stops: ${messageOf(error)}`));
  }

  return {
    start,
    kill,
    of: (name) => agents.get(name),
    isQuiet: () => Array.from(agents.values()).every(({ agent }) => agent.isQuiet() && agent.manager.isQuiet()),
    stop() {
      isStopping = true;
      for (const name of agents.keys()) kill(name);
    },
  };
}
