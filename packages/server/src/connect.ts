/** Clients for the command line, from kubeconfigs. */
import { existsSync } from "node:fs";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { ClusterConnection, HubConnection } from "@flotilla/cli";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig, openUpgrade } from "@flotilla/client";

export async function connect(kubeconfig: string): Promise<HubConnection> {
  checkThere(kubeconfig);
  const connection = await connectionOf(await loadKubeconfig(kubeconfig));
  const transport = createHttp2Transport({ ...connection, cluster: { root: HUB }, userAgent: "flotilla" });
  const { impersonate, namespace } = connection;
  return {
    client: createClient({ transport, fieldManager: "flotilla-cli" }),
    server: connection.server.href,
    namespace,
    upgrade: (request, signal) =>
      openUpgrade({ ...connection, userAgent: "flotilla" }, { ...request, impersonate }, signal),
    close: () => transport.close(),
  };
}

export async function connectCluster(
  kubeconfig: string,
  context: string | undefined,
  name: string,
): Promise<ClusterConnection> {
  if (name === HUB) checkThere(kubeconfig);
  const config = await loadKubeconfig(kubeconfig);
  const connection = await connectionOf(config, context);
  const { server, ca = "", insecure = false, serverName } = connection;
  // Only the kubeconfig's own setting: a proxy of this machine's environment is not the hub's.
  const proxyUrl = config.clusters.get(config.contexts.get(context ?? config.currentContext ?? "")?.cluster ?? "")?.[
    "proxy-url"
  ];
  const transport = createHttp2Transport({ ...connection, cluster: { only: name }, userAgent: "flotilla" });
  return {
    client: createClient({ transport, fieldManager: "flotilla-cli" }),
    server: server.href.replace(/\/+$/, ""),
    ca,
    insecure,
    serverName,
    proxyUrl: typeof proxyUrl === "string" && proxyUrl !== "" ? proxyUrl : undefined,
    close: () => transport.close(),
  };
}

/** Most users without a kubeconfig have not started a fleet. */
function checkThere(kubeconfig: string): void {
  if (!existsSync(kubeconfig))
    throw new FlotillaError(
      "NoKubeconfig",
      `no kubeconfig at ${kubeconfig}; start a fleet with 'flotilla up', or specify one with --kubeconfig FILE`,
    );
}
