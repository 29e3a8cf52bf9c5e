/**
 * The clusters that the reader of the original guides has, in one process: member1 and member2 of Karmada's half,
 * cluster1 and cluster2 of the other half, and the two that the policy for CRDs names. Commands are typed in a terminal
 * with the guides' kubeconfigs and contexts; effects are read through our client.
 */
import { defined } from "@flotilla/base";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { parseYaml } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";
import { realBinaries } from "../programs/kube.ts";
import { programPath } from "../programs/command-line.ts";
import { createShell } from "../docs/shell.ts";
import { createWorkspace } from "../docs/workspace.ts";
import { SHIPPED_BIN } from "../shipped.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";

const MEMBERS = ["member1", "member2", "member-cluster-1", "member-cluster-2", "cluster1", "cluster2"] as const;
export type GuideCluster = "hub" | (typeof MEMBERS)[number];

const COMMAND_LIMIT_MS = 60_000;
const POLL = { timeout: 30_000, interval: 50 };

/** In the namespace `default` unless another one is given. */
interface Where {
  namespace?: string;
}

export interface GuideFleet {
  client: Client;
  /** The file that a placeholder such as <MEMBER_CLUSTER_KUBECONFIG> stands for. */
  kubeconfig(cluster: GuideCluster): string;
  /** Saves a manifest in the reader's folder. */
  save(file: string, text: string): void;
  /** Runs a script in the reader's terminal; fails if one of its commands fails. Returns what it printed. */
  type(script: string, on?: GuideCluster): Promise<string>;
  /** A terminal with the default kubeconfig, as at the start of a chapter. */
  openTerminal(): Promise<void>;
  /** Polls an object until it has these values. */
  becomes(cluster: GuideCluster, kind: Kind, name: string, want: object, where?: Where): Promise<void>;
  isGone(cluster: GuideCluster, kind: Kind, name: string, where?: Where): Promise<void>;
  get<T extends KubernetesObject>(
    cluster: GuideCluster,
    kind: Kind<T>,
    name: string,
    where?: Where,
  ): Promise<DeepReadonly<T>>;
  create(cluster: GuideCluster, kind: Kind, object: object): Promise<void>;
  /** A merge patch. */
  change(cluster: GuideCluster, kind: Kind, name: string, patch: object, where?: Where): Promise<void>;
  /** The names of the containers of each pod with this label `app` that runs in the namespace `default`. */
  containers(cluster: GuideCluster, app: string): Promise<string[]>;
  stop(): Promise<number | null>;
}

/** The path of a stock karmadactl; undefined if the machine has none. */
export const karmadactl: string | undefined = (() => {
  const folder = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
  const file = folder === undefined ? undefined : join(folder, "karmadactl");
  return file !== undefined && existsSync(file) ? file : undefined;
})();

export async function startGuideFleet(): Promise<GuideFleet> {
  const directory = temporaryDirectory();
  const flags = ["--member-names", MEMBERS.join(","), "--start-ms", "0", "--ephemeral"];
  const running = await up(directory.path, ...flags);
  const { kubeconfig } = running;
  const transport = createHttp2Transport({
    ...(await connectionOf(await loadKubeconfig(kubeconfig("hub")))),
    cluster: { root: "hub" },
  });
  const client = createClient({ transport, fieldManager: "reader" });
  const workspace = createWorkspace({
    kubectl: programPath("kubectl"),
    flotilla: join(SHIPPED_BIN, "flotilla"),
    ...defined({ karmadactl }),
  });
  const { HOME: home = "" } = workspace.environment;
  writeKubeconfigs(home, kubeconfig);
  const shell = createShell({
    ...workspace,
    environment: { ...workspace.environment, KUBECONFIG: join(home, ".kube", "config") },
  });
  const keyOf = ({ scope }: Kind, cluster: string, name: string, { namespace = "default" }: Where = {}) => ({
    cluster,
    name,
    namespace: scope === "Namespaced" ? namespace : undefined,
  });
  const type: GuideFleet["type"] = async (script, on) => {
    const { code, output } = await shell.run(
      `set -e\n${on === undefined ? script : inTerminalOf(kubeconfig(on), script)}`,
      COMMAND_LIMIT_MS,
    );
    expect(code, `${script}\n${output}`).toBe(0);
    return output;
  };

  return {
    client,
    kubeconfig,
    save: (file, text) => writeFileSync(join(workspace.folder, file), text),
    type,
    openTerminal: async () => void (await type(`KUBECONFIG=${join(home, ".kube", "config")}`)),
    async becomes(cluster, kind, name, want, where) {
      const message = `${kind.kind} ${name} on ${cluster}`;
      await expect
        .poll(() => find(client, kind, keyOf(kind, cluster, name, where)), { ...POLL, message })
        .toMatchObject(want);
    },
    async isGone(cluster, kind, name, where) {
      const message = `${kind.kind} ${name} on ${cluster}`;
      await expect
        .poll(() => find(client, kind, keyOf(kind, cluster, name, where)), { ...POLL, message })
        .toBeUndefined();
    },
    get: (cluster, kind, name, where) => client.get(kind, keyOf(kind, cluster, name, where)),
    create: async (cluster, kind, object) => void (await client.create(kind, cluster, object as never)),
    change: async (cluster, kind, name, patch, where) =>
      void (await client.patch(kind, keyOf(kind, cluster, name, where), patch as never, { type: "merge" })),
    async containers(cluster, app) {
      const { items } = await client.list(Pod, { cluster, namespace: "default" });
      return items
        .filter(({ metadata, status }) => metadata.labels?.["app"] === app && status?.phase === "Running")
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ spec }) => spec.containers.map(({ name }) => name).join(" "));
    },
    async stop() {
      await shell.close();
      workspace.remove();
      await transport.close();
      const { code } = await running.stop("SIGTERM");
      directory.remove();
      return code;
    },
  };
}

/** In a subshell, so that the reader's own terminal keeps its kubeconfig. */
function inTerminalOf(kubeconfig: string, script: string): string {
  return `(\nexport KUBECONFIG=${kubeconfig}\n${script}\n)`;
}

interface KubeconfigFile {
  clusters: { name: string; cluster: object }[];
  users: { name: string; user: object }[];
}

/**
 * `~/.kube/karmada.config` for the hub, and `~/.kube/config` with a context for each cluster, named as kind names them:
 * kind-hub, kind-cluster1, …
 */
function writeKubeconfigs(home: string, kubeconfig: (cluster: GuideCluster) => string): void {
  const contexts = (["hub", ...MEMBERS] as const).map((cluster) => {
    const { clusters, users } = parseYaml(readFileSync(kubeconfig(cluster), "utf8")) as unknown as KubeconfigFile;
    const name = `kind-${cluster}`;
    return {
      name,
      context: { cluster: name, user: name },
      cluster: clusters[0]?.cluster ?? {},
      user: users[0]?.user ?? {},
    };
  });
  const merged = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "kind-hub",
    clusters: contexts.map(({ name, cluster }) => ({ name, cluster })),
    contexts: contexts.map(({ name, context }) => ({ name, context })),
    users: contexts.map(({ name, user }) => ({ name, user })),
  };
  const file = join(home, ".kube", "config");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(merged));
  writeFileSync(join(home, ".kube", "karmada.config"), readFileSync(kubeconfig("hub")));
}
