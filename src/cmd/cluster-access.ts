/**
 * Kubeconfigs for logical clusters. Each cluster has one administrator's token, kept beside the certificates. The hub's opens
 * every cluster; a cluster's own opens nothing else, and dies with the cluster: one that is made anew under the same name has another.
 */
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ApiServer } from "../apiserver/index.ts";
import { systemRandom } from "../base/index.ts";
import { renderKubeconfig } from "../client/index.ts";
import { HUB } from "./hub.ts";

export interface ClusterAccess {
  /** Throws 404 for a cluster that is not there. */
  kubeconfig(cluster: string): Promise<string>;
}

export function createClusterAccess(options: { server: Pick<ApiServer, "tokens" | "clusterId">; pki: string; ca: string; endpointOf(cluster: string): string }): ClusterAccess {
  const { server, pki, ca, endpointOf } = options;
  const known = new Map<string, string>();
  const access: ClusterAccess = {
    async kubeconfig(cluster) {
      const id = server.clusterId(cluster);
      let token = known.get(id);
      if (token === undefined) {
        token = await keptSecret(join(pki, cluster === HUB ? "admin.token" : `clusters/${id}.token`), newToken);
        // While the file was read the cluster may have been replaced by another of its name, which has its own token.
        if (server.clusterId(cluster) !== id) return access.kubeconfig(cluster);
        server.tokens.add({ token, user: "admin", groups: ["system:masters"], ...(cluster !== HUB && { cluster }) });
        known.set(id, token);
      }
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), ca, token });
    },
  };
  return access;
}

const newToken = (): string => Buffer.from(systemRandom.bytes(32)).toString("base64url");

/** What an earlier start kept in a file, or something new that is kept from now on. */
export async function keptSecret(path: string, make: () => string | Promise<string>): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const secret = (await make()).trim();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeSecret(path, `${secret}\n`);
  return secret;
}

/** Whole or not at all, and for nobody else to read. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}
