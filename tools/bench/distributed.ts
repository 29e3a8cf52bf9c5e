/**
 * What a hub of several processes costs, by the number of push-mode members: CPU time of the API servers, of etcd and of the
 * controllers, while nothing happens and while ConfigMaps of 2 KB are propagated to all members. One API server on SQLite,
 * and one and three on etcd; controllers in 1, 2 and 4 shards. The members are logical clusters of another process, which
 * is not counted. CPU time and not wall time, so that other work on the machine matters little. `--n` is the largest
 * number of members.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { startEtcd } from "../../test/programs/etcd-server.ts";
import type { EtcdServer } from "../../test/programs/etcd-server.ts";
import { realBinaries } from "../../test/programs/kube.ts";
import { flotilla } from "../../test/programs/flotilla-process.ts";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import { costOf, SOURCE, startFlotilla } from "./process.ts";
import type { RunningFleet } from "./process.ts";
import { expect, rate } from "./target.ts";

const IDLE_MS = 15_000;
const TEMPLATES = 10;
const LIMIT_MS = 240_000;
const POLL_MS = 250;
const BYTES = 2_000;

interface SetUp {
  members: number;
  servers: number;
  shards: number;
  store: "SQLite" | "etcd";
}

/** The curve over members, and at one number of members what stores, servers and shards change. */
function setUpsOf(most: number): SetUp[] {
  const curve = [10, 30, 100, 300, 1_000].filter((members) => members <= most);
  const middle = Math.min(100, most);
  return [
    ...curve.map((members) => ({ members, servers: 1, shards: 1, store: "SQLite" as const })),
    ...[2, 4].map((shards) => ({ members: middle, servers: 1, shards, store: "SQLite" as const })),
    ...[1, 3].map((servers) => ({ members: middle, servers, shards: 1, store: "etcd" as const })),
  ];
}

const nameOf = ({ members, servers, shards, store }: SetUp): string =>
  `${members} members, ${store}${servers > 1 ? ` x${servers}` : ""}, ${shards} shard${shards > 1 ? "s" : ""}`;

export const distributed: Benchmark = {
  name: "distributed",
  summary: "CPU time of a hub of several processes, by the number of members",
  counts: { full: 1_000, short: 30 },
  async run({ count, only, progress }) {
    const binaries = realBinaries(["etcd"]);
    const figures: Figure[] = [];
    const wanted = setUpsOf(count).filter((setUp) => !only || only.some((text) => nameOf(setUp).includes(text)));
    const most = Math.max(...wanted.map(({ members }) => members));
    progress(`starting ${most} members`);
    const host = await startFlotilla(["--members", String(most), "--nodes", "0"], { limitMs: LIMIT_MS });
    try {
      for (const setUp of wanted) {
        if (setUp.store === "etcd" && binaries === undefined) {
          progress(`${nameOf(setUp)} is skipped: etcd is not in $REAL_BIN`);
          continue;
        }
        const etcd = setUp.store === "etcd" ? await startEtcd(binaries ?? "") : undefined;
        try {
          const measured = await measure(setUp, host, etcd);
          progress(
            `${nameOf(setUp)}: ${measured.map(({ name, value, unit }) => `${name} ${value.toFixed(2)} ${unit}`).join(", ")}`,
          );
          figures.push(...measured.map((figure) => ({ ...figure, name: `${nameOf(setUp)}: ${figure.name}` })));
        } finally {
          await etcd?.stop();
        }
      }
      return figures;
    } finally {
      await host.stop();
    }
  },
};

interface Costs {
  servers: number;
  controllers: number;
  /** Of the busiest process. */
  busiest: number;
}

async function measure(setUp: SetUp, host: RunningFleet, etcd: EtcdServer | undefined): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-distributed-"));
  const children: ChildProcess[] = [];
  const start = async (...args: string[]): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", SOURCE, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    children.push(child);
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    await until(`flotilla ${args[0] ?? ""}`, async () => {
      if (child.exitCode !== null) throw new Error(`flotilla ${args[0] ?? ""} ended`);
      return /^ready/m.test(printed);
    });
    return child;
  };
  let api: ApiConnection | undefined;
  try {
    await flotilla("keys", "create", "--keys", join(folder, "keys"));
    const store = etcd ? ["--store", `etcd://${etcd.endpoint.host}`] : [];
    const servers: ChildProcess[] = [];
    for (let index = 0; index < setUp.servers; index++)
      servers.push(
        await start(
          "apiserver",
          "--data",
          join(folder, `hub${index}`),
          "--port",
          "0",
          "--keys",
          join(folder, "keys"),
          ...store,
        ),
      );
    const controllers: ChildProcess[] = [];
    for (let index = 0; index < setUp.shards; index++)
      controllers.push(
        await start(
          "controllers",
          "--kubeconfig",
          join(folder, `hub${index % setUp.servers}`, "controllers.kubeconfig"),
          ...(setUp.shards > 1 ? ["--shard", `${index + 1}/${setUp.shards}`] : []),
        ),
      );
    api = await connectApi(join(folder, "hub0", "hub.kubeconfig"));
    await joinMembers(api, host, setUp.members);
    const cpu = (): Costs => {
      const each = (processes: readonly ChildProcess[]): number[] =>
        processes.map(({ pid }) => costOf([pid ?? 0]).cpuSeconds);
      const [ofServers, ofControllers] = [each(servers), each(controllers)];
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      return { servers: sum(ofServers), controllers: sum(ofControllers), busiest: Math.max(...ofControllers) };
    };
    await delay(IDLE_MS / 3);
    const quiet = cpu();
    await delay(IDLE_MS);
    const idle = cpu();
    await propagate(api, setUp.members);
    const busy = cpu();
    const copies = TEMPLATES * setUp.members;
    const percent = (seconds: number): number => (seconds / IDLE_MS) * 100_000;
    const perCopy = (seconds: number): number => (seconds / copies) * 1000;
    const memory = (processes: readonly ChildProcess[]): number =>
      Math.max(...processes.map(({ pid }) => costOf([pid ?? 0]).memoryMiB));
    const less = (name: string, unit: string, value: number): Figure => ({ name, unit, better: "less", value });
    return [
      less("idle, API servers", "% of a core", percent(idle.servers - quiet.servers)),
      less("idle, controllers", "% of a core", percent(idle.controllers - quiet.controllers)),
      less("per copy, API servers", "ms", perCopy(busy.servers - idle.servers)),
      less("per copy, controllers", "ms", perCopy(busy.controllers - idle.controllers)),
      less("per copy, busiest of the controllers", "ms", perCopy(busy.busiest - idle.busiest)),
      less("memory of an API server", "MiB", memory(servers)),
      less("memory of controllers", "MiB", memory(controllers)),
    ];
  } finally {
    api?.close();
    for (const child of children.toReversed()) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

const json = (value: object): string => JSON.stringify(value);

/** As `flotilla join`, with the administrator's token of each member. */
async function joinMembers(api: ApiConnection, host: RunningFleet, members: number): Promise<void> {
  await expect(api, 201, "POST", "/api/v1/namespaces", json({ metadata: { name: "members" } }));
  await rate(members, async (index) => {
    const name = `member${index + 1}`;
    const { server, ca = "", token } = await connectionOf(await loadKubeconfig(host.kubeconfig(name)));
    const text = typeof token === "string" ? token : "";
    await expect(
      api,
      201,
      "POST",
      "/api/v1/namespaces/members/secrets",
      json({ metadata: { name }, stringData: { token: text, caBundle: ca } }),
    );
    const spec = {
      syncMode: "Push",
      id: `${name}-id`,
      apiEndpoint: server.href.replace(/\/+$/, ""),
      secretRef: { namespace: "members", name },
    };
    const cluster = { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: { name }, spec };
    await expect(api, 201, "POST", "/apis/cluster.karmada.io/v1alpha1/clusters", json(cluster));
  });
  await until("all members are ready", async () => {
    const answer = await api.call("GET", "/apis/cluster.karmada.io/v1alpha1/clusters", undefined, undefined, Infinity);
    const { items } = JSON.parse(answer.text()) as {
      items: { status?: { conditions?: { type: string; status: string }[] } }[];
    };
    return items.every(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
  });
}

async function propagate(api: ApiConnection, members: number): Promise<void> {
  await expect(api, 201, "POST", "/api/v1/namespaces", json({ metadata: { name: "load" } }));
  const policy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all" },
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: { load: "true" } } }],
      placement: {},
    },
  };
  await expect(api, 201, "POST", "/apis/policy.karmada.io/v1alpha1/namespaces/load/propagationpolicies", json(policy));
  const data = { text: "x".repeat(BYTES) };
  await rate(TEMPLATES, (index) =>
    expect(
      api,
      201,
      "POST",
      "/api/v1/namespaces/load/configmaps",
      json({ metadata: { name: `load-${index}`, labels: { load: "true" } }, data }),
    ),
  );
  await until("all copies are applied", async () => {
    const path = "/apis/work.karmada.io/v1alpha2/namespaces/load/resourcebindings";
    const answer = await api.call("GET", path, undefined, undefined, Infinity);
    const { items } = JSON.parse(answer.text()) as {
      items: { status?: { conditions?: { type: string; status: string }[]; aggregatedStatus?: unknown[] } }[];
    };
    return (
      items.length === TEMPLATES &&
      items.every(
        ({ status }) =>
          status?.aggregatedStatus?.length === members &&
          status.conditions?.some(({ type, status: is }) => type === "FullyApplied" && is === "True"),
      )
    );
  });
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + LIMIT_MS; !(await isTrue()); await delay(POLL_MS))
    if (performance.now() > endMs) throw new Error(`${what}: not within ${LIMIT_MS / 1000} s`);
}
