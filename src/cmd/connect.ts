/** A client for the command line, from a kubeconfig. */
import { existsSync } from "node:fs";
import { FlotillaError } from "../base/index.ts";
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
