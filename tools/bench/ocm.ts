/**
 * Open Cluster Management's API from outside: ManifestWorks until they are applied on two members and their feedback is
 * back, and Placements over many clusters, with the same client for Flotilla in its setups and stock OCM, one after the
 * other; then idle agents, and decisions alone.
 */
import type { Benchmark, BenchmarkOptions, Figure } from "./benchmark.ts";
import { measureAgents } from "./ocm-agents.ts";
import { measurePlacements } from "./ocm-placement.ts";
import { createOutsideClient } from "./outside-client.ts";
import type { OutsideClient } from "./outside-client.ts";
import { measureEach, setUps } from "./set-ups.ts";
import type { RunningSetUp } from "./set-ups.ts";
import { compare } from "./target.ts";

const COUNTS = { full: 1000, short: 100 };
const SINGLE = { full: 100, short: 20 };
const PLACEMENTS = { full: 100, short: 20 };
/** Clusters without a member. */
const CLUSTERS = { full: 1000, short: 200 };
const PICKED = 10;
/** A pause between single works, so that the reports of one do not overlap with the delivery of the next. */
const PAUSE_MS = 300;
const PARTS = { agents: "agents", placement: "placement" } as const;

type Measured = {
  onMembersMs: number;
  availableMs: number;
  feedbackMs: number;
  work: { p50: number; p99: number };
  placement: { p50: number; p99: number };
  cpuSeconds: Readonly<Record<string, number>>;
  memoryMiB: Readonly<Record<string, number>>;
  foreignSeconds: number;
};

export const ocm: Benchmark = {
  name: "ocm",
  summary: "ManifestWorks to two members and back, Placements, and idle agents",
  counts: COUNTS,
  async run(options) {
    const { short, only, progress } = options;
    const wants = (part: string): boolean => !only || only.includes(part);
    const known = [...setUps("", "OCM").map(({ name }) => name), ...Object.values(PARTS)];
    if (!known.some(wants))
      throw new Error(`--only matches none of the parts: ${known.map((name) => `'${name}'`).join(", ")}`);
    return [
      ...(await measureFromOutside(options, wants)),
      ...(wants(PARTS.agents) ? await measureAgents(short ? "short" : "full", progress) : []),
      ...(wants(PARTS.placement) ? measurePlacements(progress) : []),
    ];
  },
};

async function measureFromOutside(
  { count, shared, short, progress }: BenchmarkOptions,
  wants: (part: string) => boolean,
): Promise<Figure[]> {
  const wanted = setUps(shared ?? "", "OCM").filter(({ name }) => wants(name));
  if (wanted.length === 0) return [];
  if (shared === undefined) {
    progress(
      "works are skipped: the external client is missing; set --shared DIR or $FLOTILLA_SHARED to the directory that has bench/bench.mjs",
    );
    return [];
  }
  const client = createOutsideClient(shared, { waitForQuiet: !short });
  const measured = await measureEach(wanted, progress, (running, report) =>
    measureSetUp(running, client, { count, size: short ? "short" : "full", progress: report }),
  );
  const peer = measured.get("OCM");
  const figures: Figure[] = [];
  for (const [name, own] of measured)
    if (name !== "OCM" || measured.size === 1)
      figures.push(...figuresOf(name, count, own, name === "OCM" ? undefined : peer));
  // A measurement next to much foreign load is not meaningful; it is not a figure of the program, so it is not
  // compared.
  for (const [name, { foreignSeconds }] of measured)
    figures.push({ name: `${name}, CPU of other programs`, unit: "s", better: "less", value: foreignSeconds });
  return figures;
}

async function measureSetUp(
  { target }: RunningSetUp,
  client: OutsideClient,
  { count, size, progress }: { count: number; size: "full" | "short"; progress(text: string): void },
): Promise<Measured> {
  progress(`${count} ManifestWorks to two members`);
  const works = await client.run("works", target, { namespace: "bench-works", n: count });
  const { onMember, available } = works.milliseconds;
  if (onMember.n !== count || available.n !== count || works.feedback.n !== count)
    throw new Error(
      `of ${count} works ${onMember.n} reached their member, ${available.n} became available and ${works.feedback.n} returned feedback`,
    );
  progress(`${SINGLE[size]} ManifestWorks one at a time`);
  const single = await client.run("worklatency", target, {
    namespace: "bench-single",
    n: SINGLE[size],
    pause: PAUSE_MS,
  });
  progress(`${PLACEMENTS[size]} Placements over ${CLUSTERS[size]} clusters`);
  const placements = await client.run("placements", target, {
    namespace: "bench-placements",
    n: PLACEMENTS[size],
    fakes: CLUSTERS[size],
    pick: PICKED,
    pause: PAUSE_MS,
  });
  return {
    onMembersMs: onMember.last,
    availableMs: available.last,
    feedbackMs: works.feedback.last,
    work: single.milliseconds.available,
    placement: placements.milliseconds.status,
    cpuSeconds: works.toAvailable.cpuSeconds,
    memoryMiB: works.toFeedback.rssMiB,
    foreignSeconds: works.toAvailable.foreignCpu + works.toFeedback.foreignCpu,
  };
}

function figuresOf(name: string, count: number, own: Measured, peer: Measured | undefined): Figure[] {
  // Simulated members are in the process and cannot be excluded. Real ones are excluded: their API servers and stores,
  // but not the agents on them.
  const counts = (process: string): boolean => name === "in process" || !/^member\d+(-etcd|-\d+)?$/.test(process);
  const sum = (values: Readonly<Record<string, number>>): number =>
    Object.entries(values).reduce((total, [process, value]) => (counts(process) ? total + value : total), 0);
  const all = peer ? [own, peer] : [own];
  const figure = (
    what: string,
    unit: string,
    better: Figure["better"],
    readFrom: (measured: Measured) => number,
  ): Figure[] => compare(`${name}, ${what}`, unit, better, all.map(readFrom));
  const perSecond = (what: string, readFrom: (measured: Measured) => number): Figure[] =>
    figure(what, "per second", "more", (measured) => (count / readFrom(measured)) * 1000);
  return [
    ...perSecond("on members", ({ onMembersMs }) => onMembersMs),
    ...perSecond("available", ({ availableMs }) => availableMs),
    ...perSecond("feedback back", ({ feedbackMs }) => feedbackMs),
    ...perSecond("end to end", ({ availableMs, feedbackMs }) => availableMs + feedbackMs),
    ...figure("one work until available, p50", "ms", "less", ({ work }) => work.p50),
    ...figure("one work until available, p99", "ms", "less", ({ work }) => work.p99),
    ...figure("one Placement until decided, p50", "ms", "less", ({ placement }) => placement.p50),
    ...figure("one Placement until decided, p99", "ms", "less", ({ placement }) => placement.p99),
    ...figure("CPU until available", "ms", "less", ({ cpuSeconds }) => (sum(cpuSeconds) * 1000) / count),
    ...figure("memory afterwards", "MiB", "less", ({ memoryMiB }) => sum(memoryMiB)),
  ];
}
