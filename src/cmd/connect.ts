/** Clients for the command line, from kubeconfigs. */
import { existsSync } from "node:fs";
import { FlotillaError } from "../base/index.ts";
import type { ClusterConnection } from "../cli/index.ts";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "../client/index.ts";
import type { Client } from "../client/index.ts";

export async function connect(kubeconfig: string): Promise<{ client: Client; server: string; close(): Promise<void> }> {
  if (!existsSync(kubeconfig)) {
    throw new FlotillaError("NoKubeconfig", `no kubeconfig at ${kubeconfig}; start a fleet with 'flotilla up', or name one with --kubeconfig FILE`);
  }
  const connection = await connectionOf(await loadKubeconfig(kubeconfig));
  const transport = createHttp2Transport({ ...connection, cluster: { root: "hub" }, userAgent: "flotilla" });
  return { client: createClient({ transport, fieldManager: "flotilla-cli" }), server: connection.server.href, close: () => transport.close() };
}

export async function connectCluster(kubeconfig: string, context: string | undefined, name: string): Promise<ClusterConnection> {
  const config = await loadKubeconfig(kubeconfig);
  const connection = await connectionOf(config, context);
  const { server, ca = "", insecure = false, serverName } = connection;
  // Only what the kubeconfig itself says: a proxy of this machine's environment is not the hub's.
  const proxyUrl = config.clusters.get(config.contexts.get(context ?? config.currentContext ?? "")?.cluster ?? "")?.["proxy-url"];
  const transport = createHttp2Transport({ ...connection, cluster: { only: name }, userAgent: "flotilla" });
  return {
    client: createClient({ transport, fieldManager: "flotilla-cli" }),
    server: server.href.replace(/\/+$/, ""),
    ca,
    insecure,
    ...(serverName !== undefined && { serverName }),
    ...(typeof proxyUrl === "string" && proxyUrl !== "" && { proxyUrl }),
    close: () => transport.close(),
  };
}
