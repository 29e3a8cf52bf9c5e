/**
 * A real cluster on loopback as a member: etcd and kube-apiserver, and optionally the components that run pods
 * (kube-controller-manager, kube-scheduler, KWOK as the kubelets) and OpenKruise. Its audit log records the hub's
 * requests.
 */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Node, StorageClass } from "@flotilla/kubernetes";
import { ensureCertificates } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig, renderKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { connectApi } from "./api-client.ts";
import { apiServerFlags, etcdFlags, freePort } from "./kube.ts";
import { createCommand } from "./command-line.ts";
import type { CommandLine } from "./command-line.ts";
import { eventually } from "./eventually.ts";
import { temporaryDirectory } from "./flotilla-process.ts";
import { createPrograms } from "./real-programs.ts";
import type { Programs } from "./real-programs.ts";
import { createTcpGate } from "./tcp-gate.ts";
import type { TcpGate } from "./tcp-gate.ts";

const STAGES = fileURLToPath(new URL("testdata/kwok-stages.yaml", import.meta.url));
const NODES = [0, 1, 2];
/** The namespace of the accounts that `flotilla join` creates. */
const HUB_ACCOUNTS = "system:serviceaccounts:karmada-cluster";

/** A request of the hub, as the member logged it. */
interface AuditedRequest {
  verb: string;
  /** Including its query. */
  uri: string;
  code: number;
  /** Which of the account's tokens was used. */
  credential: string;
}

export interface RealCluster {
  name: string;
  /** For joining: its address is the gate's. */
  kubeconfig: string;
  /** The TCP gate between the hub and the API server. */
  gate: TcpGate;
  /** Authenticated as a cluster administrator, not as the hub. */
  client: Client;
  kubectl: CommandLine;
  /**
   * The hub's requests and their status since the last call of `forgetRequests`. A watch counts when it is answered.
   */
  requests(): AuditedRequest[];
  forgetRequests(): void;
  /** Resolves after the hub has probed the member's health this many times more, which it does every second. */
  probed(times: number): Promise<void>;
  /** `kill -9` of its API server, and its restart on the same address with the same data. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Compacts the history in etcd: watches cannot resume from before. Needs no API server. */
  compact(): Promise<void>;
  /** The number of requests it rejected as unauthenticated. */
  refusedCredentials(): Promise<number>;
  /** Published OpenKruise, with its webhooks and its manager. */
  installKruise(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * `bare` stores objects and runs nothing; `pods` has controllers, a scheduler, and nodes on which pods start at once.
 * If one cluster fails to start, all are stopped.
 */
export async function startRealClusters<const Names extends readonly string[]>(
  binaries: string,
  runs: "bare" | "pods",
  names: Names,
): Promise<{ [Index in keyof Names]: RealCluster }> {
  const starts = await Promise.allSettled(names.map((name) => startRealCluster(name, binaries, runs)));
  const clusters = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failed = starts.find((start) => start.status === "rejected");
  if (!failed) return clusters as { [Index in keyof Names]: RealCluster };
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  throw failed.reason;
}

async function startRealCluster(name: string, binaries: string, runs: "bare" | "pods"): Promise<RealCluster> {
  const folder = temporaryDirectory();
  const programs = createPrograms(binaries, folder.path);
  try {
    return await start({ name, binaries, runs, folder, programs });
  } catch (error) {
    await programs.stop();
    folder.remove();
    throw error;
  }
}

async function start({
  name,
  binaries,
  runs,
  folder,
  programs,
}: {
  name: string;
  binaries: string;
  runs: "bare" | "pods";
  folder: ReturnType<typeof temporaryDirectory>;
  programs: Programs;
}): Promise<RealCluster> {
  const at = (file: string): string => join(folder.path, file);
  const [api = 0, etcd = 0, peer = 0, ...others] = await Promise.all(Array.from({ length: 8 }, freePort));
  const [managerPort, schedulerPort, metricsPort = 0, healthPort = 0, webhookPort = 0] = others;
  const gate = await createTcpGate(api);
  const kubeconfig = at("admin.kubeconfig");
  const server = `https://127.0.0.1:${api}`;
  const admin = await writeKeys(at);
  writeFileSync(kubeconfig, renderKubeconfig({ ...admin, server }));
  writeFileSync(at("gate.kubeconfig"), renderKubeconfig({ ...admin, server: `https://127.0.0.1:${gate.port}` }));
  writeFileSync(at("audit.yaml"), AUDIT_POLICY);
  mkdirSync(at("data"));

  const isReady = (): Promise<boolean> => answers(kubeconfig, "/readyz");
  const startApi = (): Promise<void> =>
    programs.run(
      "kube-apiserver",
      [
        ...apiServerFlags(at, { api, etcd }),
        "--allow-privileged=true",
        `--audit-policy-file=${at("audit.yaml")}`,
        `--audit-log-path=${at("audit.log")}`,
      ],
      isReady,
    );
  await programs.run(
    "etcd",
    [...etcdFlags(at, { etcd, peer }), "--unsafe-no-fsync"],
    async () => true, // The API server waits for it.
  );
  await startApi();

  const transport = createHttp2Transport({
    ...(await connectionOf(await loadKubeconfig(kubeconfig))),
    cluster: { only: name },
  });
  const client = createClient({ transport, fieldManager: "ann" });
  const kubectl = createCommand("kubectl", kubeconfig);
  const succeed = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")} on ${name}: ${stderr}`);
    return stdout;
  };
  const atOnce = async (): Promise<boolean> => true;

  if (runs === "pods") {
    await Promise.all(NODES.map((index) => client.create(Node, name, makeNode(index))));
    await client.create(StorageClass, name, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "kwok.x-k8s.io/volume",
      volumeBindingMode: "Immediate",
    });
    await programs.run(
      "kube-controller-manager",
      [
        `--kubeconfig=${kubeconfig}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${managerPort}`,
        `--root-ca-file=${at("ca.crt")}`,
        `--service-account-private-key-file=${at("sa.key")}`,
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--horizontal-pod-autoscaler-sync-period=2s",
      ],
      atOnce,
    );
    await programs.run(
      "kube-scheduler",
      [
        `--kubeconfig=${kubeconfig}`,
        `--authentication-kubeconfig=${kubeconfig}`,
        `--authorization-kubeconfig=${kubeconfig}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${schedulerPort}`,
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
      ],
      atOnce,
    );
    await programs.run(
      "kwok",
      [
        `--kubeconfig=${kubeconfig}`,
        "--manage-all-nodes=true",
        `--config=${STAGES}`,
        "--cidr=10.0.0.0/8",
        "--node-ip=127.0.0.1",
      ],
      atOnce,
    );
  }

  let read = 0;
  const audited = (): string[] =>
    existsSync(at("audit.log")) ? readFileSync(at("audit.log"), "utf8").split("\n").filter(Boolean) : [];
  return {
    name,
    kubeconfig: at("gate.kubeconfig"),
    gate,
    client,
    kubectl,
    requests: () => audited().slice(read).flatMap(readRequest),
    forgetRequests: () => void (read = audited().length),
    async probed(times) {
      const count = async (): Promise<number> =>
        audited()
          .flatMap(readRequest)
          .filter(({ uri }) => uri === "/readyz").length;
      const before = await count();
      await eventually(`${times} probes of ${name}`, count, (seen) => seen >= before + times);
    },
    crash: () => programs.kill("kube-apiserver"),
    restart: startApi,
    async compact() {
      const ask = async (path: string, body: object): Promise<{ header?: { revision?: string } }> =>
        (
          await fetch(`http://127.0.0.1:${etcd}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) })
        ).json() as Promise<{ header?: { revision?: string } }>;
      const { header } = await ask("range", { key: Buffer.from("/").toString("base64"), count_only: true });
      await ask("compaction", { revision: header?.revision, physical: true });
    },
    async refusedCredentials() {
      const metrics = await succeed(["get", "--raw", "/metrics"]);
      return Number(/^authentication_attempts\{result="error"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
    },
    async installKruise() {
      const manifests = (await succeed(["kustomize", join(binaries, "kruise-config/default")])).split(/^---\n/m);
      // Its manager runs as a local process, not in a container; KWOK replaces its daemon.
      await succeed(
        ["apply", "--server-side", "-f", "-"],
        manifests.filter((manifest) => !/^kind: (Deployment|DaemonSet)$/m.test(manifest)).join("---\n"),
      );
      const token = (
        await succeed(["create", "token", "kruise-manager", "-n", "kruise-system", "--duration=24h"])
      ).trim();
      writeFileSync(at("kruise.kubeconfig"), renderKubeconfig({ name, server, ca: admin.ca, token }));
      await programs.run(
        "kruise-manager",
        [
          "--enable-leader-election=false",
          `--metrics-addr=127.0.0.1:${metricsPort}`,
          `--health-probe-addr=127.0.0.1:${healthPort}`,
          "--logtostderr=true",
          "--webhook-initialize-timeout=60s",
          "--feature-gates=CloneSetPartitionRollback=true",
          "--rest-config-qps=500",
          "--rest-config-burst=1000",
        ],
        () => isHealthy(`http://127.0.0.1:${healthPort}/readyz`),
        {
          KUBECONFIG: at("kruise.kubeconfig"),
          POD_NAMESPACE: "kruise-system",
          WEBHOOK_HOST: "localhost",
          WEBHOOK_PORT: String(webhookPort),
          WEBHOOK_CERT_DIR: at("webhook-certificates"),
        },
      );
    },
    async stop() {
      await transport.close();
      await gate.close();
      await programs.stop();
      kubectl.remove();
      folder.remove();
    },
  };
}

/** The keys and certificates of all programs, and the administrator's. */
async function writeKeys(
  at: (file: string) => string,
): Promise<{ name: string; ca: string; cert: string; key: string }> {
  const { authority, serving, clients } = await ensureCertificates({
    directory: at("pki"),
    hosts: [],
    clients: { admin: { commonName: "admin", organizations: ["system:masters"] } },
    clock: systemClock,
    log: silentLog,
  });
  const account = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    type: "pkcs1",
    format: "pem",
  }) as string;
  const files = {
    "sa.key": account,
    "sa.pub": createPublicKey(account).export({ type: "spki", format: "pem" }),
    "ca.crt": authority.certificate,
    "server.crt": serving.certificate,
    "server.key": serving.key,
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(at(file), content);
  return {
    name: "real",
    ca: authority.certificate,
    cert: clients["admin"]?.certificate ?? "",
    key: clients["admin"]?.key ?? "",
  };
}

async function answers(kubeconfig: string, path: string): Promise<boolean> {
  try {
    const connection = await connectApi(kubeconfig);
    try {
      return (await connection.call("GET", path)).status === 200;
    } finally {
      connection.close();
    }
  } catch {
    return false; // The server does not listen yet.
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // The server does not listen yet.
  }
}

function makeNode(index: number): Node {
  const room = { cpu: "64", memory: "256Gi", pods: "500" };
  const labels = {
    "kubernetes.io/hostname": `node-${index}`,
    "kubernetes.io/os": "linux",
    "topology.kubernetes.io/zone": index === 0 ? "zone-a" : "zone-b",
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `node-${index}`, labels },
    status: { allocatable: room, capacity: room },
  };
}

const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", userGroups: [HUB_ACCOUNTS] }, { level: "None" }],
});

interface AuditLine {
  stage: string;
  verb: string;
  requestURI: string;
  user: { extra?: Record<string, string[]> };
  responseStatus?: { code?: number };
}

/** A watch is one request, however long it lasts: the record of its end is ignored. */
function readRequest(line: string): AuditedRequest[] {
  const { stage, verb, requestURI: uri, user, responseStatus } = JSON.parse(line) as AuditLine;
  const [credential = ""] = user.extra?.["authentication.kubernetes.io/credential-id"] ?? [];
  return stage === (verb === "watch" ? "ResponseStarted" : "ResponseComplete")
    ? [{ verb, uri, code: responseStatus?.code ?? 0, credential }]
    : [];
}
