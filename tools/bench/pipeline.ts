/**
 * The pipeline from outside: CloneSets divided over two members until they are applied, until their status is back, a
 * policy edit that moves them all, a restart, and the cost. The same client measures Flotilla in its setups and a real
 * Karmada, one after the other.
 */
import { setTimeout } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import { createOutsideClient } from "./outside-client.ts";
import type { Account, ClientTarget, OutsideClient } from "./outside-client.ts";
import { scheduler } from "./scheduler.ts";
import { measureEach, setUps } from "./set-ups.ts";
import type { RunningSetUp } from "./set-ups.ts";
import { compare } from "./target.ts";

const COUNTS = { full: 1000, short: 200 };
const SINGLE = { full: 100, short: 30 };
const MANY_BINDINGS = { full: 10_000, short: 2000 };
/** A pause between single workloads, so that the reports of one do not overlap with the delivery of the next. */
const PAUSE_MS = 300;
const NAMESPACE = "bench-many";
const NEW_WORKLOAD = "after-restart";
const POLL_MS = 50;
const DECISION_TIMEOUT_MS = 900_000;

/** By process, because a comparison with real members excludes the members' own processes. */
type ByProcess = Readonly<Record<string, number>>;

interface Restart {
  decidedMs: number;
  onMembersMs: number;
}

interface Measured {
  scheduledMs: number;
  onMembersMs: number;
  statusBackMs: number;
  movedMs: number;
  /** One at a time, from its create until every member has it. */
  apply: { p50: number; p99: number };
  /**
   * From the start of the process until a new workload has its clusters, and until every member has it, with all others
   * present.
   */
  restart: Restart;
  cpuUntilOnMembers: ByProcess;
  cpuUntilQuiet: ByProcess;
  cpuOfStatus: ByProcess;
  cpuOfMove: ByProcess;
  memoryBefore: ByProcess;
  memory: ByProcess;
  stored: ByProcess;
  /** Size of the template, its binding and its Works, as the hub serves them. */
  servedBytes: number;
  foreignSeconds: number;
}

export const pipeline: Benchmark = {
  name: "pipeline",
  summary: "CloneSets from a policy to two members and back, in three setups",
  counts: COUNTS,
  async run(options) {
    const { count, shared, short, only, progress } = options;
    const size = short ? "short" : "full";
    const client = createOutsideClient(shared, { waitForQuiet: !short });
    const wanted = setUps(shared ?? "").filter(({ name }) => !only || only.includes(name));
    if (wanted.length === 0)
      throw new Error(
        `--only names none of the set-ups: ${setUps("")
          .map(({ name }) => `'${name}'`)
          .join(", ")}`,
      );
    const measured = await measureEach(wanted, progress, (running, report) =>
      measure(running, client, { count, single: SINGLE[size], progress: report }),
    );
    const karmada = measured.get("Karmada");
    const figures: Figure[] = [];
    for (const [name, own] of measured) if (name !== "Karmada") figures.push(...figuresOf(name, count, own, karmada));
    // A measurement next to much foreign load is not meaningful; it is not a figure of the program, so it is not
    // compared.
    for (const [name, { foreignSeconds }] of measured)
      figures.push({ name: `${name}, CPU of other programs`, unit: "s", better: "less", value: foreignSeconds });
    if (measured.has("in process")) {
      const inProcess = wanted.find(({ name }) => name === "in process");
      if (inProcess) figures.push(...(await restartWithMany(inProcess.start, client, MANY_BINDINGS[size], progress)));
      figures.push(...(await scheduler.run(options)));
    }
    return figures;
  },
};

interface Load {
  count: number;
  single: number;
  progress(text: string): void;
}

async function measure(
  running: RunningSetUp,
  client: OutsideClient,
  { count, single, progress }: Load,
): Promise<Measured> {
  const { target, stored } = running;
  const many = { namespace: NAMESPACE, n: count };
  const before = { stored: stored(), sample: await client.run("sample", target, { seconds: 1 }) };
  progress(`${count} CloneSets to two members`);
  const throughput = await client.run("throughput", target, many);
  const storedAfter = stored();
  const servedBytes = await countServed(target);
  const { scheduled, ...stages } = throughput.milliseconds;
  const onMembers = Object.keys(target.members).map((name) => stages[name]);
  if (throughput.wrongReplicas > 0) throw new Error(`${throughput.wrongReplicas} objects have wrong replicas`);
  if (!onMembers.every((times) => times?.n === count)) throw new Error("not every object reached every member");
  progress("their status back to the hub");
  const status = await client.run("status", target, many);
  if (status.aggregated.n !== count) throw new Error("not every status was reported");
  progress("a restart of the hub");
  const restart = await measureRestart(running, client);
  await client.run("settle", target, many);
  progress("a policy edit that moves them");
  const move = await client.run("move", target, { ...many, to: Object.keys(target.members).at(-1) ?? "" });
  progress(`${single} CloneSets one at a time`);
  const latency = await client.run("latency", target, { namespace: "bench-single", n: single, pause: PAUSE_MS });
  return {
    scheduledMs: scheduled.last,
    onMembersMs: Math.max(...onMembers.map((times) => times?.last ?? NaN)),
    statusBackMs: status.aggregated.last,
    movedMs: Math.max(move.arrived.last, move.left.last),
    apply: latency.milliseconds.allMembers,
    restart,
    cpuUntilOnMembers: throughput.toConverged.cpuSeconds,
    cpuUntilQuiet: throughput.toSettled.cpuSeconds,
    cpuOfStatus: status.toSettled.cpuSeconds,
    cpuOfMove: move.toSettled.cpuSeconds,
    memoryBefore: before.sample.rssMiB,
    memory: status.toSettled.rssMiB,
    stored: Object.fromEntries(
      Object.entries(storedAfter).map(([name, bytes]) => [name, bytes - (before.stored[name] ?? 0)]),
    ),
    servedBytes,
    foreignSeconds: [throughput, status, move].reduce(
      (sum, { toConverged }: { toConverged: Account }) => sum + toConverged.foreignCpu,
      0,
    ),
  };
}

async function countServed({ hub, members }: ClientTarget): Promise<number> {
  const api = await connectApi(hub);
  try {
    const lists = [
      `apps.kruise.io/v1alpha1/namespaces/${NAMESPACE}/clonesets`,
      `work.karmada.io/v1alpha2/namespaces/${NAMESPACE}/resourcebindings`,
      ...Object.keys(members).map((name) => `work.karmada.io/v1alpha1/namespaces/karmada-es-${name}/works`),
    ];
    let total = 0;
    for (const list of lists) {
      const { status, bytes, text } = await api.call("GET", `/apis/${list}`);
      if (status !== 200) throw new Error(`listing ${list} returned ${status}: ${text().slice(0, 300)}`);
      total += bytes;
    }
    return total;
  } finally {
    api.close();
  }
}

function figuresOf(name: string, count: number, own: Measured, karmada: Measured | undefined): Figure[] {
  // Simulated members are in the process and cannot be excluded; with real ones only the hub is compared.
  const counts = (process: string): boolean => name === "in process" || !process.startsWith("member");
  const sum = (values: ByProcess): number =>
    Object.entries(values).reduce((total, [process, value]) => (counts(process) ? total + value : total), 0);
  const all = karmada ? [own, karmada] : [own];
  const figure = (
    what: string,
    unit: string,
    better: Figure["better"],
    read: (measured: Measured) => number,
  ): Figure[] => compare(`${name}, ${what}`, unit, better, all.map(read));
  const perSecond = (what: string, read: (measured: Measured) => number): Figure[] =>
    figure(what, "per second", "more", (measured) => (count / read(measured)) * 1000);
  const each = (what: string, unit: string, scale: number, read: (measured: Measured) => number): Figure[] =>
    figure(what, unit, "less", (measured) => (read(measured) * scale) / count);
  return [
    ...perSecond("scheduled", ({ scheduledMs }) => scheduledMs),
    ...perSecond("on members", ({ onMembersMs }) => onMembersMs),
    ...perSecond("status back", ({ statusBackMs }) => statusBackMs),
    ...perSecond("end to end", ({ onMembersMs, statusBackMs }) => onMembersMs + statusBackMs),
    ...perSecond("moved", ({ movedMs }) => movedMs),
    ...figure("apply to member, p50", "ms", "less", ({ apply }) => apply.p50),
    ...figure("apply to member, p99", "ms", "less", ({ apply }) => apply.p99),
    ...each("CPU until on members", "ms", 1000, ({ cpuUntilOnMembers }) => sum(cpuUntilOnMembers)),
    ...each("CPU until quiet", "ms", 1000, ({ cpuUntilQuiet }) => sum(cpuUntilQuiet)),
    ...each("CPU of status", "ms", 1000, ({ cpuOfStatus }) => sum(cpuOfStatus)),
    ...each("CPU of move", "ms", 1000, ({ cpuOfMove }) => sum(cpuOfMove)),
    ...figure("memory before", "MiB", "less", ({ memoryBefore }) => sum(memoryBefore)),
    ...each("memory each", "KiB", 1024, ({ memory, memoryBefore }) => sum(memory) - sum(memoryBefore)),
    ...each("on disk each", "KiB", 1 / 1024, ({ stored }) => sum(stored)),
    ...each("objects of the hub each", "KiB", 1 / 1024, ({ servedBytes }) => servedBytes),
    ...figure(`restart with ${count}, first decision`, "ms", "less", ({ restart }) => restart.decidedMs),
    ...figure(`restart with ${count}`, "ms", "less", ({ restart }) => restart.onMembersMs),
  ];
}

async function restartWithMany(
  start: () => Promise<RunningSetUp>,
  client: OutsideClient,
  bindings: number,
  progress: (text: string) => void,
): Promise<Figure[]> {
  progress(`restart with ${bindings} bindings: filling`);
  const running = await start();
  try {
    await client.run("throughput", running.target, { namespace: NAMESPACE, n: bindings });
    progress(`restart with ${bindings} bindings`);
    const { decidedMs, onMembersMs } = await measureRestart(running, client);
    return [
      { name: `in process, restart with ${bindings}, first decision`, unit: "ms", better: "less", value: decidedMs },
      { name: `in process, restart with ${bindings}`, unit: "ms", better: "less", value: onMembersMs },
    ];
  } finally {
    await running.stop();
  }
}

/** The client retries until the hub accepts a workload, and then waits for it on the members. */
async function measureRestart({ target, stopHub, startHub }: RunningSetUp, client: OutsideClient): Promise<Restart> {
  await stopHub();
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  const [onMembersMs, decidedMs] = await Promise.all([
    client.run("canary", target, { namespace: NAMESPACE, name: NEW_WORKLOAD }).then(elapsed),
    untilDecided(target.hub).then(elapsed),
    startHub(),
  ]);
  return { onMembersMs, decidedMs };
}

/** Polls until the new workload's binding has clusters. A hub that does not answer yet is retried. */
async function untilDecided(hub: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < DECISION_TIMEOUT_MS; waitedMs += POLL_MS) {
    if (await isDecided(hub).catch(() => false)) return;
    await setTimeout(POLL_MS);
  }
  throw new Error(`the new workload had no clusters ${DECISION_TIMEOUT_MS / 1000} s after the restart`);
}

async function isDecided(hub: string): Promise<boolean> {
  const api = await connectApi(hub);
  try {
    const { status, text } = await api.call(
      "GET",
      `/apis/work.karmada.io/v1alpha2/namespaces/${NAMESPACE}/resourcebindings/${NEW_WORKLOAD}-cloneset`,
    );
    return (
      status === 200 && ((JSON.parse(text()) as { spec: { clusters?: unknown[] } }).spec.clusters?.length ?? 0) > 0
    );
  } finally {
    api.close();
  }
}
