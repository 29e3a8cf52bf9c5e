/**
 * Runs an agent in this process: kubeconfigs, credentials, and leader election among replicas; `packages/flotilla/src/agent` does the
 * rest.
 */
import { hash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createRealMember, createSecretStore, ensureAgentNamespace, runAgent } from "@flotilla/flotilla";
import type { CredentialStore } from "@flotilla/flotilla";
import { Namespace } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import { elapsedMs, sleep, systemClock, systemRandom, omitZero } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { AgentRunOptions } from "@flotilla/cli";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client, KubeconfigConnection, Transport } from "@flotilla/client";
import { createLeaderElection, fenceTransport } from "@flotilla/controller-runtime";
import type { Leadership } from "@flotilla/controller-runtime";
import { createAgentMetrics, serveMetrics } from "./agent-metrics.ts";
import type { AgentMetrics } from "./agent-metrics.ts";
import { inCluster } from "../process/in-cluster.ts";
import { withBootstrap, withKubeconfig, type Open } from "./agent-hub.ts";
import { createDirectoryStore, textOf } from "./credential-directory.ts";
import { createStderrLog } from "../process/stderr-log.ts";
import { whileUnchanged } from "../process/while-unchanged.ts";

const RETRY_MS = 5_000;
const environment = { clock: systemClock, random: systemRandom };
/**
 * The values of Open Cluster Management's agents: long enough that a restarting API server does not cost the
 * leadership.
 */
const ELECTION_TIMES = { leaseDurationMs: 137_000, renewDeadlineMs: 107_000, retryMs: 26_000 };
const LEASE = "flotilla-agent";

interface Member {
  id: string;
  connection: KubeconfigConnection;
  transport: Transport;
  client: Client;
  store: CredentialStore;
}

export async function startAgent(
  options: AgentRunOptions,
  report: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const log = createStderrLog(options.logLevel, options.logFormat);
  const metrics = createAgentMetrics();
  const page =
    options.metricsAddress === undefined ? undefined : await serveMetrics(options.metricsAddress, metrics.render, log);
  try {
    await attendTo(options, metrics, report, log, signal);
  } finally {
    await page?.close();
  }
}

async function attendTo(
  options: AgentRunOptions,
  metrics: AgentMetrics,
  report: (text: string) => void,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = options;
  const connection = await connectionOf(
    options.clusterKubeconfig === undefined
      ? inCluster("--cluster-kubeconfig FILE is required: the cluster that this agent serves, unless it runs inside it")
      : await loadKubeconfig(options.clusterKubeconfig),
    options.clusterContext,
  );
  const transport = createHttp2Transport({ ...connection, cluster: { only: cluster }, userAgent: "flotilla-agent" });
  try {
    const client = createClient({ transport, fieldManager: "flotilla-agent" });
    const id = await clusterId(client, cluster, log, signal);
    const store =
      options.state === undefined
        ? createSecretStore({ client, cluster, namespace: options.namespace })
        : createDirectoryStore(options.state);
    const member: Member = { id, connection, transport, client, store };
    const file = options.bootstrapKubeconfig ?? options.hubKubeconfig;
    // Restarts when the kubeconfig changes, because it may name another hub or address.
    const attend = (stop: AbortSignal, leadership?: Leadership): Promise<void> => {
      const serveNow = (unchanged: AbortSignal): Promise<void> =>
        serve({ options, member, metrics, report, log, leadership }, unchanged);
      return file === undefined
        ? serveNow(stop)
        : whileUnchanged(() => textOf(file), serveNow, { clock: systemClock, log, name: file }, stop);
    };
    await (options.leaderElects ? whenElected(attend, options, client, log, signal) : attend(signal));
  } finally {
    await transport.close();
  }
}

/** One of several replicas serves, and the others wait for its Lease to expire. */
async function whenElected(
  attend: (signal: AbortSignal, leadership: Leadership) => Promise<void>,
  { cluster, namespace }: AgentRunOptions,
  client: Client,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  // An agent that may not create the namespace relies on an administrator; leader election reports any other problem.
  await ensureAgentNamespace(client, cluster, namespace, signal).catch((error: unknown) =>
    log.warn("namespace of the lease not created", { error }),
  );
  const election = createLeaderElection({
    client,
    ...environment,
    elapsedMs,
    log,
    lease: { cluster, namespace, name: LEASE },
    identity: `${hostname()}_${randomUUID()}`,
    times: ELECTION_TIMES,
  });
  while (!signal.aborted) await election.run(attend, signal);
}

interface Service {
  options: AgentRunOptions;
  member: Member;
  metrics: AgentMetrics;
  report(text: string): void;
  log: Log;
  /** Unset without leader election. */
  leadership: Leadership | undefined;
}

async function serve(service: Service, signal: AbortSignal): Promise<void> {
  const { options, member, metrics, report, log, leadership } = service;
  const { cluster } = options;
  const { id, store } = member;
  const fenced = (transport: Transport): Transport => (leadership ? fenceTransport(transport, leadership) : transport);
  const opened: Transport[] = [];
  const open: Open = (connection, credentials) => {
    const transport = createHttp2Transport({
      ...connection,
      ...omitZero({ credentials }),
      cluster: { only: HUB },
      userAgent: "flotilla-agent",
    });
    opened.push(transport);
    return fenced(transport);
  };
  try {
    const server = member.connection.server.href.replace(/\/+$/, "");
    const hub = await (options.bootstrapKubeconfig === undefined
      ? withKubeconfig(options, store, open, log, signal)
      : withBootstrap(
          options,
          {
            kubeconfig: options.bootstrapKubeconfig,
            member: { id, server, ca: member.connection.ca ?? "" },
            store,
            open,
            log,
          },
          signal,
        ));
    const hubHash = hash("sha256", hub.server, "hex");
    const members = createRealMember({ cluster, id, transport: fenced(member.transport), ...environment, log });
    // A failure of one ends the other; otherwise they would wait for each other forever.
    const ended = new AbortController();
    const stop = AbortSignal.any([signal, ended.signal]);
    const keeping = hub.keep(stop);
    let serving: Promise<void> | undefined;
    try {
      const { provider, region, zones, evictionGraceMs } = options;
      const description = hub.isKarmada
        ? {
            id,
            apiEndpoint: server,
            provider: provider || undefined,
            region: region || undefined,
            zones: zones.length > 0 ? zones : undefined,
          }
        : undefined;
      serving = runAgent(
        {
          hub: HUB,
          cluster,
          clientFor: (part) => createClient({ transport: hub.transport, fieldManager: `flotilla-${part}` }),
          members: metrics.around(members),
          meter: metrics.meter,
          origin: { hubHash, agentID: hub.agent },
          rotation: hub.rotation,
          description,
          standing: hub.standing,
          evictionGraceMs,
          onServing(apis, agent) {
            const { karmada, ocm } = apis;
            metrics.follow(agent, apis);
            report(
              `serving ${cluster}: ${[karmada && "Works", ocm && "ManifestWorks"].filter(Boolean).join(" and ")} of ${hub.server}`,
            );
          },
          ...environment,
          log,
        },
        stop,
      );
      await Promise.race([serving, keeping.then(() => serving)]);
    } finally {
      ended.abort();
      await Promise.allSettled([serving, keeping]);
      members.close();
    }
  } finally {
    await Promise.all(opened.map((transport) => transport.close()));
  }
}

/** The member may start after its agent. */
async function clusterId(client: Client, cluster: string, log: Log, signal: AbortSignal): Promise<string> {
  for (;;) {
    try {
      return (await client.get(Namespace, { cluster, name: "kube-system" }, { signal })).metadata.uid ?? "";
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("cluster not responding, retrying", { cluster, error });
      await sleep(systemClock, RETRY_MS, signal);
    }
  }
}
