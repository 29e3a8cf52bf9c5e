/**
 * The cost of members: pods that become Ready per second in one member, a hundred members with a thousand pods each,
 * and a thousand members without any. `--peer DIR` names a running real cluster with simulated nodes and OpenKruise
 * (DIR/kube/admin.json), which gets the same workloads in the same run.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import { costOf, pidsOf, startFlotilla } from "./process.ts";
import { compare, expect } from "./target.ts";

const NODES = 10;
const MEMBERS = 100;
const PODS_PER_MEMBER = 1000;
const EMPTY_MEMBERS = 1000;
const POLL_MS = 20;
const IDLE_MS = 10_000;
const SETTLE_MS = 5_000;
const LIMIT_MS = 600_000;
const NAMESPACE = "default";

const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
// The version that every OpenKruise release serves.
const CLONESETS = `/apis/apps.kruise.io/v1alpha1/namespaces/${NAMESPACE}/clonesets`;

export const members: Benchmark = {
  name: "members",
  summary: "pods that become Ready in simulated members",
  async run({ count, peer, progress }) {
    const kubeconfig = peer === undefined ? undefined : join(peer, "kube", "admin.json");
    if (kubeconfig !== undefined && !existsSync(kubeconfig))
      throw new Error(`${kubeconfig} does not exist; --peer names the directory of a running cluster with OpenKruise`);
    const figures = await rollouts(count, peer, progress);
    return [...figures, ...(await manyPods(progress)), ...(await manyMembers(progress))];
  },
};

interface Rates {
  /** Of all processes, for all three, including the deletions in between. */
  cpuSeconds: number;
  deployment: number;
  cloneSet: number;
  inPlace: number;
}

async function rollouts(count: number, peer: string | undefined, progress: (text: string) => void): Promise<Figure[]> {
  progress(`${count} pods of a Deployment, of a CloneSet, and updated in place`);
  const fleet = await startFlotilla([
    "--members",
    "1",
    "--nodes",
    String(Math.max(NODES, Math.ceil(count / 50))),
    "--start-ms",
    "0",
  ]);
  let own: Rates;
  try {
    own = await measureRates(fleet.kubeconfig("member1"), [fleet.pid], count);
  } finally {
    await fleet.stop();
  }
  if (peer !== undefined) progress("the same on the peer");
  const other =
    peer === undefined ? undefined : await measureRates(join(peer, "kube", "admin.json"), pidsOf(peer), count);
  const both = (read: (rates: Rates) => number): number[] => [read(own), ...(other ? [read(other)] : [])];
  return [
    ...compare(
      `Deployment of ${count}, Ready`,
      "pods/s",
      "more",
      both(({ deployment }) => deployment),
    ),
    ...compare(
      `CloneSet of ${count}, Ready`,
      "pods/s",
      "more",
      both(({ cloneSet }) => cloneSet),
    ),
    ...compare(
      `CloneSet of ${count}, in place`,
      "pods/s",
      "more",
      both(({ inPlace }) => inPlace),
    ),
    // A busy machine slows one process more than six, so the CPU time of both is more meaningful than the duration.
    ...compare(
      "CPU for the three",
      "s",
      "less",
      both(({ cpuSeconds }) => cpuSeconds),
    ),
  ];
}

async function measureRates(kubeconfig: string, pids: readonly number[], count: number): Promise<Rates> {
  const api = await connectApi(kubeconfig);
  const before = costOf(pids).cpuSeconds;
  const name = `bench-${Date.now().toString(36)}`;
  const rateOf = async (start: () => Promise<void>, path: string, ready: string): Promise<number> => {
    const started = performance.now();
    await start();
    await whenStatus(api, path, ready, count);
    return count / ((performance.now() - started) / 1000);
  };
  const remove = async (path: string): Promise<void> => {
    await expect(
      api,
      200,
      "DELETE",
      path,
      JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" }),
    );
    await whenGone(api);
  };
  try {
    const deployment = await rateOf(
      () => expect(api, 201, "POST", DEPLOYMENTS, deploymentOf(name, count)),
      `${DEPLOYMENTS}/${name}`,
      "availableReplicas",
    );
    await remove(`${DEPLOYMENTS}/${name}`);
    const cloneSet = await rateOf(
      () => expect(api, 201, "POST", CLONESETS, cloneSetOf(name, count)),
      `${CLONESETS}/${name}`,
      "updatedAvailableReplicas",
    );
    await delay(SETTLE_MS);
    const image = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "bench:2" }];
    const patch = (): Promise<void> =>
      expect(api, 200, "PATCH", `${CLONESETS}/${name}`, JSON.stringify(image), "application/json-patch+json");
    const generation = await generationOf(api, `${CLONESETS}/${name}`);
    const inPlace = await rateOf(
      async () => {
        await patch();
        await whenObserved(api, `${CLONESETS}/${name}`, generation + 1);
      },
      `${CLONESETS}/${name}`,
      "updatedAvailableReplicas",
    );
    await remove(`${CLONESETS}/${name}`);
    return { deployment, cloneSet, inPlace, cpuSeconds: costOf(pids).cpuSeconds - before };
  } finally {
    api.close();
  }
}

async function manyPods(progress: (text: string) => void): Promise<Figure[]> {
  progress(`${MEMBERS} members with ${PODS_PER_MEMBER} pods each`);
  const fleet = await startFlotilla([
    "--members",
    String(MEMBERS),
    "--nodes",
    String(NODES),
    "--start-ms",
    "0",
    "--ephemeral",
  ]);
  const api = await connectApi(fleet.kubeconfig("hub"));
  const paths = Array.from({ length: MEMBERS }, (_, index) => `/clusters/member${index + 1}${DEPLOYMENTS}`);
  try {
    const started = performance.now();
    await Promise.all(paths.map((path) => expect(api, 201, "POST", path, deploymentOf("web", PODS_PER_MEMBER))));
    for (const path of paths) await whenStatus(api, `${path}/web`, "availableReplicas", PODS_PER_MEMBER);
    const seconds = (performance.now() - started) / 1000;
    await delay(SETTLE_MS);
    const idle = await idlePercent(fleet.pid);
    const pods = MEMBERS * PODS_PER_MEMBER;
    return [
      { name: `${pods} pods in ${MEMBERS} members, Ready`, unit: "pods/s", better: "more", value: pods / seconds },
      { name: `${pods} pods, resident`, unit: "MiB", better: "less", value: costOf([fleet.pid]).memoryMiB },
      { name: `${pods} pods, idle CPU`, unit: "%", better: "less", value: idle },
    ];
  } finally {
    api.close();
    await fleet.stop();
  }
}

async function manyMembers(progress: (text: string) => void): Promise<Figure[]> {
  progress(`${EMPTY_MEMBERS} empty members`);
  const fleet = await startFlotilla(["--members", String(EMPTY_MEMBERS), "--nodes", "1", "--ephemeral"]);
  try {
    await delay(SETTLE_MS);
    return [
      { name: `${EMPTY_MEMBERS} empty members, start`, unit: "s", better: "less", value: fleet.startMs / 1000 },
      {
        name: `${EMPTY_MEMBERS} empty members, resident`,
        unit: "MiB",
        better: "less",
        value: costOf([fleet.pid]).memoryMiB,
      },
      {
        name: `${EMPTY_MEMBERS} empty members, idle CPU`,
        unit: "%",
        better: "less",
        value: await idlePercent(fleet.pid),
      },
    ];
  } finally {
    await fleet.stop();
  }
}

async function idlePercent(pid: number): Promise<number> {
  const before = costOf([pid]).cpuSeconds;
  await delay(IDLE_MS);
  return ((costOf([pid]).cpuSeconds - before) / (IDLE_MS / 1000)) * 100;
}

const whenObserved = (api: ApiConnection, path: string, generation: number): Promise<void> =>
  whenStatus(api, path, "observedGeneration", generation);

/** Resolves when a number in the status reaches this value. */
async function whenStatus(api: ApiConnection, path: string, field: string, least: number): Promise<void> {
  await until(
    `${field} of ${path} is ${least}`,
    async () => Number((await read(api, path)).status?.[field] ?? 0) >= least,
  );
}

async function whenGone(api: ApiConnection): Promise<void> {
  await until(
    "the pods are deleted",
    async () => (await read(api, `/api/v1/namespaces/${NAMESPACE}/pods?limit=1`)).items?.length === 0,
  );
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline)
      throw new Error(`timed out timed out waiting until ${what}: it did not happen within ${LIMIT_MS / 1000} s`);
    await delay(POLL_MS);
  }
}

interface Read {
  metadata?: { generation?: number };
  status?: Record<string, unknown>;
  items?: unknown[];
}

async function read(api: ApiConnection, path: string): Promise<Read> {
  const answer = await api.call("GET", path);
  if (answer.status !== 200) throw new Error(`GET ${path} returned ${answer.status}: ${answer.text().slice(0, 300)}`);
  return JSON.parse(answer.text()) as Read;
}

const generationOf = async (api: ApiConnection, path: string): Promise<number> =>
  (await read(api, path)).metadata?.generation ?? 0;

function templateOf(name: string): object {
  const containers = [{ name: "main", image: "bench:1", resources: { requests: { cpu: "1m", memory: "1Mi" } } }];
  return { metadata: { labels: { app: name } }, spec: { containers, terminationGracePeriodSeconds: 1 } };
}

function deploymentOf(name: string, replicas: number): string {
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: templateOf(name) },
  });
}

function cloneSetOf(name: string, replicas: number): string {
  const updateStrategy = { type: "InPlaceIfPossible", maxUnavailable: "100%" };
  return JSON.stringify({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: templateOf(name), updateStrategy },
  });
}
