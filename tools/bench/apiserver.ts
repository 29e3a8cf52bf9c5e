/**
 * The API server alone, compared with a real kube-apiserver with etcd: same client, TLS, durable writes, full semantics
 * on both. Rounds alternate between the two, and the median of three is reported.
 */
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Benchmark } from "./benchmark.ts";
import { connectApi } from "../../test/programs/api-client.ts";
import { clusterFigures } from "./clusters.ts";
import { realBinaries, startKube } from "../../test/programs/kube.ts";
import { EMITTED, costOf, startFlotilla } from "./process.ts";
import { deploymentBody } from "./objects.ts";
import { compare, expect, rate } from "./target.ts";
import type { Target } from "./target.ts";
import { watchFigures } from "./watchers.ts";

const ROUNDS = 3;
const MANY_OBJECTS = 10_000;

export const apiserver: Benchmark = {
  name: "apiserver",
  summary: "creates, reads, patches and watches on one API server",
  async run({ count, progress }) {
    const binaries = realBinaries();
    if (!binaries) progress("kube-apiserver and etcd are not in $REAL_BIN; measuring only Flotilla");
    if (!existsSync(EMITTED)) throw new Error("the benchmark measures the emitted build; run 'npm run build' first");
    progress("starting");
    const own = await startOwnApiServer();
    const kube = binaries ? await startKube(binaries) : undefined;
    const targets: Target[] = [own, ...(kube ? [{ name: "kube-apiserver", ...kube }] : [])];
    try {
      const empty = targets.map(({ pids }) => costOf(pids).memoryMiB);
      const rounds: Record<string, number>[][] = targets.map(() => []);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, target] of targets.entries()) {
          progress(`round ${round + 1} of ${ROUNDS} on ${target.name}`);
          rounds[index]?.push(await measureRound(target, `bench-${round}`, count));
        }
      }
      const figures = compare(
        "start until ready",
        "ms",
        "less",
        targets.map(({ startMs }) => startMs),
      );
      figures.push(...compare("memory, empty", "MiB", "less", empty));
      for (const name of Object.keys(rounds[0]?.[0] ?? {})) {
        const cost = COSTS[name];
        figures.push(
          ...compare(
            name,
            cost ?? "per second",
            cost === undefined ? "more" : "less",
            rounds.map((measured) => median(measured.map((values) => values[name] ?? NaN))),
          ),
        );
      }
      progress(`${MANY_OBJECTS} Deployments`);
      for (const target of targets) await fill(target, MANY_OBJECTS);
      figures.push(
        ...compare(
          `memory, ${MANY_OBJECTS} more Deployments`,
          "MiB",
          "less",
          targets.map(({ pids }) => costOf(pids).memoryMiB),
        ),
      );
      figures.push(...(await watchFigures(targets, progress)));
      figures.push(...(await clusterFigures(progress)));
      return figures;
    } finally {
      for (const target of targets) await target.stop();
    }
  },
};

export async function startOwnApiServer(): Promise<Target> {
  const fleet = await startFlotilla(["--members", "0"], { entry: EMITTED });
  return {
    name: "flotilla",
    kubeconfig: fleet.kubeconfig("hub"),
    startMs: fleet.startMs,
    pids: [fleet.pid],
    stop: fleet.stop,
  };
}

/** All other figures are rates. */
const COSTS: Readonly<Record<string, string>> = {
  "CPU per create": "µs",
  "CPU per get": "µs",
  "CPU per list of 1000": "ms",
};

async function measureRound(
  { kubeconfig, pids }: Target,
  namespace: string,
  count: number,
): Promise<Record<string, number>> {
  const api = await connectApi(kubeconfig);
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const cpu = (): number => costOf(pids).cpuSeconds;
  const objects = Math.max(count, 1000);
  try {
    await expect(api, 201, "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
    const beforeCreate = cpu();
    const create = await rate(objects, (index) => expect(api, 201, "POST", maps, mapBody(`m-${index}`)));
    const createCpu = cpu() - beforeCreate;
    const createDeployment = await rate(count, (index) =>
      expect(api, 201, "POST", deployments, deploymentBody(namespace, `d-${index}`)),
    );
    const beforeGet = cpu();
    const get = await rate(4 * count, (index) => expect(api, 200, "GET", `${maps}/m-${index % objects}`));
    const getCpu = cpu() - beforeGet;
    const beforeList = cpu();
    const list = await rate(60, () => expect(api, 200, "GET", `${maps}?limit=1000`), 4);
    const listCpu = cpu() - beforeList;
    const patch = await rate(count, (index) =>
      expect(api, 200, "PATCH", `${maps}/m-${index}`, `{"data":{"p":"${index}"}}`, "application/merge-patch+json"),
    );
    const apply = await rate(count, (index) =>
      expect(
        api,
        200,
        "PATCH",
        `${deployments}/d-${index}?fieldManager=bench&force=true`,
        deploymentBody(namespace, `d-${index}`, 6, "web:2"),
        "application/apply-patch+yaml",
      ),
    );
    return {
      "create ConfigMap of 1 KB": create,
      "CPU per create": (createCpu / objects) * 1e6,
      "create Deployment of 2 KB": createDeployment,
      get,
      "CPU per get": (getCpu / (4 * count)) * 1e6,
      "list of 1000": list,
      "CPU per list of 1000": (listCpu / 60) * 1e3,
      "merge patch": patch,
      "server-side apply": apply,
    };
  } finally {
    api.close();
  }
}

const mapBody = (name: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { app: "load" } },
    data: { k: "x".repeat(1000) },
  });

async function fill({ kubeconfig }: Target, count: number): Promise<void> {
  const api = await connectApi(kubeconfig);
  await expect(api, 201, "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: "many" } }));
  await rate(count, (index) =>
    expect(api, 201, "POST", "/apis/apps/v1/namespaces/many/deployments", deploymentBody("many", `d-${index}`)),
  );
  api.close();
  await delay(2000); // Lets background writes finish.
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
