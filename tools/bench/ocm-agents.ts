/**
 * The cost of idle agents: a tenth of the members, and all of them, each with its agent in the hub's process (`up
 * --pull all`); all of them after a restart of the hub; and one as a separate process.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Figure } from "./benchmark.ts";
import { measureStandaloneAgent } from "./ocm-standalone-agent.ts";
import { costOf, startFlotilla } from "./process.ts";
import type { RunningFleet } from "./process.ts";

const SIZES = { full: 1000, short: 100 };
/** The slowest agents report once a minute. */
const IDLE_MS = { full: 120_000, short: 20_000 };
const FRACTION = 10;
const START_LIMIT_MS = 600_000;
const SAMPLE_MS = 1000;
const QUIET_SAMPLES = 3;
/** Quiet means less than a quarter of a core, and at most twice the idle usage of as many agents. */
const QUIET_CORES = 0.25;
const QUIET_LIMIT_MS = 300_000;
const AVAILABLE = "ManagedClusterConditionAvailable";

interface Idle {
  agents: number;
  /** CPU seconds per second. */
  cores: number;
  writesPerSecond: number;
  reconcilesPerSecond: number;
  memoryMiB: number;
}

export async function measureAgents(size: "full" | "short", progress: (text: string) => void): Promise<Figure[]> {
  const many = SIZES[size];
  const few = await atIdle(many / FRACTION, size, progress);
  const data = mkdtempSync(join(tmpdir(), "flotilla-bench-"));
  try {
    const all = await atIdle(many, size, progress, data);
    progress(`${many} agents: a restart of the hub`);
    const restart = await measureRestart(many, all.cores, data);
    const less = (name: string, unit: string, value: number): Figure => ({ name, unit, better: "less", value });
    const of = (given: Idle): Figure[] => {
      const { agents, cores, writesPerSecond, reconcilesPerSecond, memoryMiB } = given;
      return [
        less(`${agents} idle agents, CPU`, "% of a core", cores * 100),
        less(`${agents} idle agents, CPU each`, "µs/s", (cores * 1e6) / agents),
        less(`${agents} idle agents, writes`, "per second", writesPerSecond),
        less(`${agents} idle agents, reconciles`, "per second", reconcilesPerSecond),
        less(`${agents} idle agents, resident`, "MiB", memoryMiB),
      ];
    };
    return [
      ...of(few),
      ...of(all),
      less(
        "memory of one more agent and member",
        "KiB",
        ((all.memoryMiB - few.memoryMiB) * 1024) / (all.agents - few.agents),
      ),
      less(`restart with ${many} agents, ready`, "ms", restart.readyMs),
      less(`restart with ${many} agents, quiet`, "ms", restart.quietMs),
      less(`restart with ${many} agents, CPU until quiet`, "s", restart.cpuSeconds),
      ...(await measureStandaloneAgent(IDLE_MS[size], progress)),
    ];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

const start = (agents: number, data: string | undefined): Promise<RunningFleet> =>
  startFlotilla(["--members", String(agents), "--pull", "all", "--nodes", "0"], { limitMs: START_LIMIT_MS, data });

async function atIdle(
  agents: number,
  size: "full" | "short",
  progress: (text: string) => void,
  data?: string,
): Promise<Idle> {
  progress(`${agents} agents: starting`);
  const fleet = await start(agents, data);
  const api = await connectApi(fleet.kubeconfig("hub"));
  try {
    await untilAvailable(api, agents);
    await untilQuiet(fleet.pid, QUIET_CORES);
    progress(`${agents} agents: idle for ${IDLE_MS[size] / 1000} s`);
    const before = { cost: costOf([fleet.pid]), counts: await count(api), ms: performance.now() };
    await delay(IDLE_MS[size]);
    const after = { cost: costOf([fleet.pid]), counts: await count(api), ms: performance.now() };
    const seconds = (after.ms - before.ms) / 1000;
    return {
      agents,
      cores: (after.cost.cpuSeconds - before.cost.cpuSeconds) / seconds,
      writesPerSecond: (after.counts.writes - before.counts.writes) / seconds,
      reconcilesPerSecond: (after.counts.reconciles - before.counts.reconciles) / seconds,
      memoryMiB: after.cost.memoryMiB,
    };
  } finally {
    api.close();
    await fleet.stop();
  }
}

async function measureRestart(
  agents: number,
  idleCores: number,
  data: string,
): Promise<{ readyMs: number; quietMs: number; cpuSeconds: number }> {
  const started = performance.now();
  const fleet = await start(agents, data);
  const api = await connectApi(fleet.kubeconfig("hub"));
  try {
    await untilAvailable(api, agents);
    const quietAt = await untilQuiet(fleet.pid, Math.max(QUIET_CORES, 2 * idleCores));
    return { readyMs: fleet.startMs, quietMs: quietAt - started, cpuSeconds: costOf([fleet.pid]).cpuSeconds };
  } finally {
    api.close();
    await fleet.stop();
  }
}

async function read(api: ApiConnection, path: string): Promise<string> {
  // The response for a thousand members is long.
  const { status, text } = await api.call("GET", path, undefined, undefined, Number.POSITIVE_INFINITY);
  if (status !== 200) throw new Error(`GET ${path} returned ${status}: ${text().slice(0, 300)}`);
  return text();
}

/**
 * Every write of every logical cluster is one revision. The server does not count requests within the process, but
 * counts those of a separate agent.
 */
async function count(api: ApiConnection): Promise<{ writes: number; reconciles: number }> {
  const { metadata } = JSON.parse(await read(api, "/api/v1/namespaces?limit=1")) as {
    metadata: { resourceVersion: string };
  };
  const reconciles = [
    ...(await read(api, "/metrics")).matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm),
  ].reduce((sum, [, value]) => sum + Number(value), 0);
  return { writes: Number(metadata.resourceVersion), reconciles };
}

async function untilAvailable(api: ApiConnection, agents: number): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  for (;;) {
    const available = await countAvailable(api);
    if (available >= agents) return;
    if (performance.now() > untilMs) throw new Error(`${available} of ${agents} clusters are available`);
    await delay(SAMPLE_MS);
  }
}

async function countAvailable(api: ApiConnection): Promise<number> {
  const { items } = JSON.parse(await read(api, "/apis/cluster.open-cluster-management.io/v1/managedclusters")) as {
    items: { status?: { conditions?: { type: string; status: string }[] } }[];
  };
  return items.filter(({ status }) =>
    status?.conditions?.some(({ type, status: value }) => type === AVAILABLE && value === "True"),
  ).length;
}

/** When the quiet period began. */
async function untilQuiet(pid: number, cores: number): Promise<number> {
  const untilMs = performance.now() + QUIET_LIMIT_MS;
  let quiet: number[] = [];
  while (quiet.length < QUIET_SAMPLES) {
    if (performance.now() > untilMs)
      throw new Error(`the hub still used more than ${cores.toFixed(2)} cores after ${QUIET_LIMIT_MS / 1000} s`);
    const from = performance.now();
    const before = costOf([pid]).cpuSeconds;
    await delay(SAMPLE_MS);
    const used = ((costOf([pid]).cpuSeconds - before) * 1000) / (performance.now() - from);
    quiet = used < cores ? [...quiet, from] : [];
  }
  return quiet[0] ?? performance.now();
}
