/** Runs an agent in this process: kubeconfigs, credentials and their place on disk or on the member; `src/agent` does the rest. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createCredentialKeeper, createRealMember, createSecretStore, credentialsIn, filesOf, introduce, karmadaIdentity, managedClusterIdentity, runAgent } from "../agent/index.ts";
import type { CredentialStore, HubAddress, HubCredentials, Rotation } from "../agent/index.ts";
import { Namespace } from "../api/index.ts";
import { sleep, systemClock, systemRandom, UsageError } from "../base/index.ts";
import type { Log } from "../base/index.ts";
import type { AgentRunOptions } from "../cli/index.ts";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig, parseKubeconfig } from "../client/index.ts";
import type { Client, CredentialSource, Kubeconfig, KubeconfigConnection, Transport } from "../client/index.ts";
import { writeSecret } from "./cluster-access.ts";
import { ensureDirectory } from "./data-directory.ts";
import { createStderrLog } from "./stderr-log.ts";

const HUB = "hub";
const ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";
const RETRY_MS = 5_000;
const surroundings = { clock: systemClock, random: systemRandom };

export async function startAgent(options: AgentRunOptions, tell: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { cluster } = options;
  const log = createStderrLog(options.logLevel);
  const memberConnection = await connectionOf(options.clusterKubeconfig === undefined ? inCluster() : await loadKubeconfig(options.clusterKubeconfig), options.clusterContext);
  const memberTransport = createHttp2Transport({ ...memberConnection, cluster: { only: cluster }, userAgent: "flotilla-agent" });
  const opened: Transport[] = [memberTransport];
  const memberClient = createClient({ transport: memberTransport, fieldManager: "flotilla-agent" });
  try {
    const id = await clusterId(memberClient, cluster, log, signal);
    const store = options.state === undefined ? createSecretStore({ client: memberClient, cluster, namespace: options.namespace }) : createDirectoryStore(options.state);
    const open = (connection: KubeconfigConnection, credentials?: CredentialSource): Transport => {
      const transport = createHttp2Transport({ ...connection, ...(credentials && { credentials }), cluster: { only: HUB }, userAgent: "flotilla-agent" });
      opened.push(transport);
      return transport;
    };
    const server = memberConnection.server.href.replace(/\/+$/, "");
    const hub = await (options.bootstrapKubeconfig === undefined ? withKubeconfig(options, store, open, log, signal) : withBootstrap(options, options.bootstrapKubeconfig, { id, server, ca: memberConnection.ca ?? "" }, store, open, log, signal));
    const hubHash = hash("sha256", hub.server, "hex");
    const members = createRealMember({ cluster, id, transport: memberTransport, ...surroundings, log });
    const keeping = hub.keep(signal);
    try {
      const { provider, region, zones } = options;
      const description = hub.isKarmada ? { id, apiEndpoint: server, ...(provider && { provider }), ...(region && { region }), ...(zones.length > 0 && { zones }) } : undefined;
      await runAgent(
        {
          hub: HUB,
          cluster,
          clientFor: (part) => createClient({ transport: hub.transport, fieldManager: `flotilla-${part}` }),
          members,
          origin: { hubHash, agentID: hub.agent },
          rotation: hub.rotation,
          ...(description && { description }),
          onServing: ({ karmada, ocm }) => tell(`serving ${cluster}: ${[karmada && "Works", ocm && "ManifestWorks"].filter(Boolean).join(" and ")} of ${hub.server}`),
          ...surroundings,
          log,
        },
        signal,
      );
    } finally {
      members.close();
      await keeping;
    }
  } finally {
    await Promise.all(opened.map((transport) => transport.close()));
  }
}

interface HubAccess {
  transport: Transport;
  server: string;
  agent: string;
  /** Registered Karmada's way: it makes its own Cluster. */
  isKarmada: boolean;
  rotation(): Rotation | undefined;
  keep(signal: AbortSignal): Promise<void>;
}

type Open = (connection: KubeconfigConnection, credentials?: CredentialSource) => Transport;

/** Open Cluster Management's way: everybody starts with the same identity, and gets one of its own when somebody accepts it. */
async function withBootstrap(options: AgentRunOptions, file: string, member: { id: string; server: string; ca: string }, store: CredentialStore, open: Open, log: Log, signal: AbortSignal): Promise<HubAccess> {
  const { cluster } = options;
  const config = await loadKubeconfig(file);
  const connection = await connectionOf(config);
  const address = addressOf(config, connection);
  let rotation: Rotation | undefined;
  const source: CredentialSource = { current: () => keeper.source.current(), replace: (refused) => keeper.source.replace(refused) };
  const { token: _token, cert: _cert, key: _key, credentials: _credentials, ...plain } = connection;
  const transport = open(plain, source);
  const keeper = createCredentialKeeper({
    hub: HUB,
    address,
    cluster,
    agent: member.id,
    identityOf: (agent) => managedClusterIdentity(cluster, agent),
    store,
    bootstrap: {
      client: createClient({ transport: open(connection), fieldManager: "flotilla-agent" }),
      introduce: (client, _agent, stop) => introduce(client, { hub: HUB, cluster, ...member }, stop),
    },
    client: createClient({ transport, fieldManager: "flotilla-agent" }),
    ...(options.certificateSeconds !== undefined && { expirationSeconds: options.certificateSeconds }),
    ...surroundings,
    log,
    onRotation: (latest) => (rotation = latest),
  });
  const { agent } = await keeper.obtain(signal);
  return { transport, server: address.server, agent, isKarmada: false, rotation: () => rotation, keep: keeper.keep };
}

/** With a kubeconfig of its own, as registering Karmada's way leaves it: a certificate in it is renewed, anything else is used as it is. */
async function withKubeconfig(options: AgentRunOptions, store: CredentialStore, open: Open, log: Log, signal: AbortSignal): Promise<HubAccess> {
  const { cluster, hubKubeconfig } = options;
  if (hubKubeconfig === undefined) throw new UsageError("--bootstrap-kubeconfig FILE is missing, or --hub-kubeconfig FILE for an agent that has registered");
  const config = await loadKubeconfig(hubKubeconfig);
  const connection = await connectionOf(config);
  const address = addressOf(config, connection);
  const identity = karmadaIdentity(cluster);
  const still = { server: address.server, agent: cluster, isKarmada: true, rotation: () => undefined };
  const { cert, key } = connection;
  if (cert === undefined || key === undefined || connection.credentials) return { ...still, transport: open(connection), keep: async () => {} };
  const given: HubCredentials = { address, cluster, agent: cluster, cert, key };
  const { token: _token, cert: _cert, key: _key, ...plain } = connection;
  const source: CredentialSource = { current: () => keeper.source.current(), replace: (refused) => keeper.source.replace(refused) };
  const transport = open(plain, source);
  const keeper = createCredentialKeeper({
    hub: HUB,
    address,
    cluster,
    agent: cluster,
    identityOf: () => identity,
    // What was renewed since counts before what registering left.
    store: { load: async (stop) => (await store.load(stop)) ?? given, save: store.save },
    client: createClient({ transport, fieldManager: "flotilla-agent" }),
    ...surroundings,
    log,
  });
  await keeper.obtain(signal);
  return { ...still, transport, keep: keeper.keep };
}

function addressOf({ currentContext = "", contexts, clusters }: Kubeconfig, { server, ca = "" }: KubeconfigConnection): HubAddress {
  const name = contexts.get(currentContext)?.cluster ?? "";
  const proxyUrl = clusters.get(name)?.["proxy-url"];
  return { name, server: server.href.replace(/\/+$/, ""), ca, proxyUrl: typeof proxyUrl === "string" ? proxyUrl : "" };
}

/** The cluster in which this process runs, by the account of its pod. */
function inCluster(): Kubeconfig {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = process.env;
  if (!host) throw new UsageError("--cluster-kubeconfig FILE is missing: the cluster that this agent serves, when it does not run inside it");
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "pod",
    clusters: [{ name: "pod", cluster: { server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`, "certificate-authority": join(ACCOUNT_DIRECTORY, "ca.crt") } }],
    contexts: [{ name: "pod", context: { cluster: "pod", user: "pod" } }],
    users: [{ name: "pod", user: { tokenFile: join(ACCOUNT_DIRECTORY, "token") } }],
  };
  return parseKubeconfig(JSON.stringify(document), { source: "the account of this pod", directory: ACCOUNT_DIRECTORY });
}

/** The member may come up after its agent. */
async function clusterId(client: Client, cluster: string, log: Log, signal: AbortSignal): Promise<string> {
  for (;;) {
    try {
      return (await client.get(Namespace, { cluster, name: "kube-system" }, { signal })).metadata.uid ?? "";
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("the cluster does not answer, trying again", { cluster, error });
      await sleep(systemClock, RETRY_MS, signal);
    }
  }
}

function createDirectoryStore(directory: string): CredentialStore {
  const NAMES = Object.keys(filesOf({ address: { name: "", server: "", ca: "", proxyUrl: "" }, cluster: "", agent: "", cert: "", key: "" }));
  return {
    async load() {
      const read = await Promise.all(NAMES.map(async (name) => [name, await textOf(join(directory, name))] as const));
      const files = new Map(read);
      return credentialsIn((name) => files.get(name));
    },
    async save(credentials) {
      await ensureDirectory(directory);
      for (const [name, text] of Object.entries(filesOf(credentials))) await writeSecret(join(directory, name), text);
    },
  };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
