/**
 * The servers on which the recordings are replayed: a fleet with one empty member, reached over TLS like any other, or
 * several API servers on one etcd.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { startFleet } from "@flotilla/server";
import { startEtcd } from "../../../../test/programs/etcd-server.ts";
import { apiserver, flotilla } from "../../../../test/programs/flotilla-process.ts";
import type { Up } from "../../../../test/programs/flotilla-process.ts";
import { realBinaries } from "../../../../test/programs/kube.ts";
import { startPlayWebhooks } from "./webhooks.ts";
import type { PlayWebhooks } from "./webhooks.ts";

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
  /** The request has its own credentials or none: the administrator's are not sent. */
  anonymous?: boolean;
}

export interface PlayServer {
  readonly webhooks: PlayWebhooks;
  send(request: HttpRequest): Promise<IncomingMessage>;
  close(): Promise<void>;
}

/** A running server with a fresh cluster as the recordings expect it: no workload controller changes an object. */
interface Started {
  /** Kubeconfigs of the cluster, one for each server. */
  kubeconfigs: readonly string[];
  stop(): Promise<void>;
}

/** Requests go to the servers in turn, each over connections of its own. */
export async function startPlayServer(servers = 1): Promise<PlayServer> {
  const data = await mkdtemp(join(tmpdir(), "flotilla-golden-"));
  const started = servers === 1 ? await startOne(data) : await startSeveral(data, servers);
  const targets = await Promise.all(
    started.kubeconfigs.map(async (kubeconfig) => {
      const { server: url, ca, cert, key, token } = await connectionOf(await loadKubeconfig(kubeconfig));
      const agent = new https.Agent({ keepAlive: true, maxSockets: 200, ca, cert, key });
      return { url, token, agent, anonymousAgent: new https.Agent({ keepAlive: true, ca }) };
    }),
  );
  const webhooks = await startPlayWebhooks();
  let turn = 0;
  return {
    webhooks,
    send: ({ method, path, headers, body, anonymous = false }) =>
      new Promise((resolve, reject) => {
        const target = targets[turn++ % targets.length];
        if (!target) throw new Error("no server was started");
        const { url, token, agent, anonymousAgent } = target;
        const request = https.request(
          {
            host: url.hostname,
            port: url.port,
            method,
            path: url.pathname.replace(/\/$/, "") + path,
            headers:
              anonymous || typeof token !== "string" ? headers : { authorization: `Bearer ${token}`, ...headers },
            agent: anonymous ? anonymousAgent : agent,
          },
          resolve,
        );
        request.on("error", reject);
        request.end(body);
      }),
    async close() {
      for (const { agent, anonymousAgent } of targets) {
        agent.destroy();
        anonymousAgent.destroy();
      }
      webhooks.close();
      await started.stop();
      await rm(data, { recursive: true });
    },
  };
}

async function startOne(data: string): Promise<Started> {
  const fleet = await startFleet(
    { data, members: 1, nodes: 0, kruise: "none", port: 0, ephemeral: true, logLevel: "error" },
    () => {},
    new AbortController().signal,
  );
  return { kubeconfigs: [fleet.kubeconfigs.get(MEMBER) ?? ""], stop: fleet.stop };
}

const MEMBER = "member1";
/** What a simulated member without OpenKruise has. */
const PROFILE = "member-bare";

/** API servers on one etcd, each a process. */
async function startSeveral(data: string, servers: number): Promise<Started> {
  const binaries = realBinaries(["etcd"]);
  if (binaries === undefined) throw new Error("several servers need etcd, which is not in $REAL_BIN");
  const etcd = await startEtcd(binaries);
  const running: Up[] = [];
  try {
    await flotilla("keys", "create", "--keys", join(data, "keys"));
    for (let index = 0; index < servers; index++)
      running.push(
        await apiserver(
          join(data, `server${index}`),
          "--keys",
          join(data, "keys"),
          "--store",
          `etcd://${etcd.endpoint.host}`,
          "--log-level",
          "error",
        ),
      );
    const hub = running[0]?.kubeconfig("hub") ?? "";
    const kubectl = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", hub, ...args);
      if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    const member = join(data, "member.json");
    const cluster = {
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "LogicalCluster",
      metadata: { name: MEMBER },
      spec: { profile: PROFILE },
    };
    await writeFile(member, JSON.stringify(cluster));
    await kubectl("create", "-f", member);
    const path = `/apis/flotilla.dev/v1alpha1/logicalclusters/${MEMBER}/kubeconfig`;
    const issued = await kubectl("create", "--raw", path, "-f", "/dev/null");
    const kubeconfigs = await Promise.all(
      running.map(async ({ url }, index) => {
        const file = join(data, `member-${index}.kubeconfig`);
        await writeFile(file, issued.replace(/https:\/\/127\.0\.0\.1:\d+/, url), { mode: 0o600 });
        return file;
      }),
    );
    return { kubeconfigs, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stop(): Promise<void> {
    await Promise.all(running.map((server) => server.stop("SIGTERM")));
    await etcd.stop();
  }
}
