/** Watchers of one changing object: the time until an event reaches all of them, at a low rate and at full speed. */
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Figure } from "./benchmark.ts";
import { costOf } from "./process.ts";
import { compare, expect } from "./target.ts";
import type { Target } from "./target.ts";

const CONNECTIONS = 10;
const CALM_UPDATES = 100;
const CALM_PAUSE_MS = 50;
const SATURATED_MS = 4000;

interface Watched {
  p50: number;
  p99: number;
  cpuPerEvent: number;
  eventsPerSecond: number;
  saturatedP50: number;
  saturatedP99: number;
  memoryPerWatch: number;
}

export async function watchFigures(targets: readonly Target[], progress: (text: string) => void): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const watchers of [100, 1000]) {
    const measured: Watched[] = [];
    for (const target of targets) {
      progress(`${watchers} watchers on ${target.name}`);
      measured.push(await measureWatchers(target, watchers));
    }
    const add = (what: string, unit: string, better: Figure["better"], read: (watched: Watched) => number): void => {
      figures.push(...compare(`${watchers} watchers, ${what}`, unit, better, measured.map(read)));
    };
    add("memory per watch", "KiB", "less", ({ memoryPerWatch }) => memoryPerWatch);
    add("20/s, median", "ms", "less", ({ p50 }) => p50);
    add("20/s, 99 %", "ms", "less", ({ p99 }) => p99);
    add("20/s, CPU per event", "µs", "less", ({ cpuPerEvent }) => cpuPerEvent);
    add("saturated, events", "per second", "more", ({ eventsPerSecond }) => eventsPerSecond);
    add("saturated, median", "ms", "less", ({ saturatedP50 }) => saturatedP50);
    add("saturated, 99 %", "ms", "less", ({ saturatedP99 }) => saturatedP99);
  }
  return figures;
}

async function measureWatchers({ kubeconfig, pids }: Target, count: number): Promise<Watched> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connectApi(kubeconfig)));
  const writer = await connectApi(kubeconfig);
  const namespace = `watch-${count}`;
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  let delays: number[] = [];
  const stops: (() => void)[] = [];
  try {
    await expect(writer, 201, "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
    await expect(
      writer,
      201,
      "POST",
      path,
      JSON.stringify({ metadata: { name: "watched" }, data: { text: "x".repeat(1500) } }),
    );
    const memoryBefore = costOf(pids).memoryMiB;
    for (let index = 0; index < count; index++) {
      const connection = connections[index % CONNECTIONS] as ApiConnection;
      stops.push(
        connection.watch(`${path}?watch=1&fieldSelector=metadata.name=watched`, (line) => {
          const sent = /"sent":"([\d.]+)"/.exec(line)?.[1];
          if (sent !== undefined) delays.push(performance.now() - Number(sent));
        }),
      );
    }
    await delay(2000);
    const memoryPerWatch = ((costOf(pids).memoryMiB - memoryBefore) * 1024) / count;
    const update = (): Promise<void> =>
      expect(
        writer,
        200,
        "PATCH",
        `${path}/watched`,
        `{"data":{"sent":"${performance.now()}"}}`,
        "application/merge-patch+json",
      );

    const cpuBefore = costOf(pids).cpuSeconds;
    for (let index = 0; index < CALM_UPDATES; index++) {
      await update();
      await delay(CALM_PAUSE_MS);
    }
    await delay(500);
    const calm = delays.toSorted((a, b) => a - b);
    const cpuPerEvent = ((costOf(pids).cpuSeconds - cpuBefore) / Math.max(1, calm.length)) * 1e6;

    delays = [];
    const started = performance.now();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (performance.now() - started < SATURATED_MS) await update();
      }),
    );
    const eventsPerSecond = delays.length / ((performance.now() - started) / 1000);
    const saturated = delays.toSorted((a, b) => a - b);
    return {
      p50: at(calm, 0.5),
      p99: at(calm, 0.99),
      cpuPerEvent,
      eventsPerSecond,
      saturatedP50: at(saturated, 0.5),
      saturatedP99: at(saturated, 0.99),
      memoryPerWatch,
    };
  } finally {
    for (const stop of stops) stop();
    for (const connection of [...connections, writer]) connection.close();
  }
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
