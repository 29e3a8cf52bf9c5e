/** End to end: start-up time, workloads per second that reach two members and report back, and their cost. */
import { join } from "node:path";
import type { Benchmark, BenchmarkOptions, Figure } from "./benchmark.ts";
import { connect, runLoad } from "./load.ts";
import type { LoadResult } from "./load.ts";
import { costOf, pidsOf, startFlotilla } from "./process.ts";
import type { Cost } from "./process.ts";

interface Measured extends LoadResult {
  idleMemoryMiB: number;
  memoryMiB: number;
  cpuSeconds: number;
}

const MEMBERS = ["member1", "member2"];

export const deployments: Benchmark = {
  name: "deployments",
  summary: "Deployments divided over two members, until they are applied and their status is back",
  async run({ count, peer, progress }) {
    progress("starting flotilla");
    const fleet = await startFlotilla(["--members", "2", "--nodes", "0"]);
    let own: Measured;
    try {
      progress(`${count} workloads on flotilla`);
      own = await measure(
        (cluster) => fleet.kubeconfig(cluster),
        () => costOf([fleet.pid]),
        count,
      );
    } finally {
      await fleet.stop();
    }
    if (peer === undefined) return figures(count, fleet.startMs, own, undefined);
    progress(`${count} workloads on the peer`);
    const other = await measure(
      (cluster) => join(peer, "kube", `${cluster}.json`),
      () => costOf(pidsOf(peer)),
      count,
    );
    return figures(count, fleet.startMs, own, other);
  },
};

async function measure(kubeconfig: (cluster: string) => string, cost: () => Cost, count: number): Promise<Measured> {
  const [hub, ...members] = await Promise.all(
    ["hub", ...MEMBERS].map((cluster) => connect(cluster, kubeconfig(cluster))),
  );
  if (!hub) throw new Error("no hub");
  try {
    const before = cost();
    const result = await runLoad(hub, members, `bench-${Date.now().toString(36)}`, count);
    const after = cost();
    return {
      ...result,
      idleMemoryMiB: before.memoryMiB,
      memoryMiB: after.memoryMiB,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    };
  } finally {
    await Promise.all([hub, ...members].map((endpoint) => endpoint.close()));
  }
}

function figures(
  count: BenchmarkOptions["count"],
  startMs: number,
  own: Measured,
  peer: Measured | undefined,
): Figure[] {
  const perSecond = (ms: number): number => (count / ms) * 1000;
  const figure = (
    name: string,
    unit: string,
    better: Figure["better"],
    read: (measured: Measured) => number,
  ): Figure => ({ name, unit, better, value: read(own), peer: peer ? read(peer) : undefined });
  return [
    { name: "start-up, hub and 2 members", value: startMs, unit: "ms", better: "less" },
    figure("workloads to members", "per second", "more", ({ toMembersMs }) => perSecond(toMembersMs)),
    figure("statuses back on the hub", "per second", "more", ({ statusBackMs }) => perSecond(statusBackMs)),
    figure("end to end", "per second", "more", ({ toMembersMs, statusBackMs }) =>
      perSecond(toMembersMs + statusBackMs),
    ),
    figure("CPU per workload", "ms", "less", ({ cpuSeconds }) => (cpuSeconds / count) * 1000),
    figure("memory before the load", "MiB", "less", ({ idleMemoryMiB }) => idleMemoryMiB),
    figure("memory after the load", "MiB", "less", ({ memoryMiB }) => memoryMiB),
  ];
}
