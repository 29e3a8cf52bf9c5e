/** Clients for the command line, from kubeconfigs. */
import { HUB } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { checkKubeconfig, hubOnly } from "@flotilla/cli";
import type { ClusterConnection, HubConnection, KubeconfigAccess } from "@flotilla/cli";
import {
  connectionOf,
  createClient,
  createHttp2Transport,
  loadKubeconfigs,
  openUpgrade,
  tracedTransport,
} from "@flotilla/client";
import type { Http2TransportOptions, Kubeconfig, KubeconfigConnection, Transport } from "@flotilla/client";

import { withReadableClusters } from "./elsewhere/stored-clusters.ts";
import { inCluster, NOT_IN_POD } from "./process/in-cluster.ts";

/** kubectl prints requests from this verbosity on. */
const TRACE_VERBOSITY = 6;

/** `trace` receives the lines about requests that a high verbosity asks for. */
export async function connect(access: KubeconfigAccess, trace: (line: string) => void): Promise<HubConnection> {
  if (!access.isInCluster) checkKubeconfig(access);
  const { connection } = await open(access);
  const { href } = connection.server;
  const transport = hubOnly(withReadableClusters(transportOf(connection, { root: HUB }, access, trace)), href);
  const { impersonate, namespace } = connection;
  return {
    client: createClient({ transport, fieldManager: "flotilla-cli" }),
    server: href,
    namespace,
    upgrade: (request, signal) =>
      openUpgrade({ ...connection, userAgent: "flotilla" }, { ...request, impersonate }, signal),
    close: () => transport.close(),
  };
}

export async function connectCluster(
  access: KubeconfigAccess,
  name: string,
  trace: (line: string) => void,
): Promise<ClusterConnection> {
  if (name === HUB) checkKubeconfig(access);
  const { config, connection } = await open(access);
  const { server, ca = "", insecure = false, serverName } = connection;
  // Only the kubeconfig's own setting: a proxy of this machine's environment is not the hub's.
  const context = config.contexts.get(access.context ?? config.currentContext ?? "");
  const proxyUrl = config.clusters.get(context?.cluster ?? "")?.["proxy-url"];
  const transport = transportOf(connection, { only: name }, access, trace);
  return {
    client: createClient({ transport, fieldManager: "flotilla-cli" }),
    server: server.href.replace(/\/+$/, ""),
    others: connection.others?.map(({ href }) => href.replace(/\/+$/, "")),
    ca,
    insecure,
    serverName,
    proxyUrl: typeof proxyUrl === "string" && proxyUrl !== "" ? proxyUrl : undefined,
    close: () => transport.close(),
  };
}

async function open({
  isInCluster = false,
  kubeconfigs,
  context,
  impersonate,
}: KubeconfigAccess): Promise<{ config: Kubeconfig; connection: KubeconfigConnection }> {
  const config = isInCluster ? inCluster(NOT_IN_POD) : await loadKubeconfigs(kubeconfigs);
  const connection = await connectionOf(config, context);
  return { config, connection: impersonate ? { ...connection, impersonate } : connection };
}

function transportOf(
  connection: KubeconfigConnection,
  cluster: Http2TransportOptions["cluster"],
  { verbosity = 0 }: KubeconfigAccess,
  trace: (line: string) => void,
): Transport {
  const transport = createHttp2Transport({ ...connection, cluster, userAgent: "flotilla" });
  return verbosity < TRACE_VERBOSITY
    ? transport
    : tracedTransport(transport, { server: connection.server.href, clock: systemClock, write: trace });
}
