/**
 * Kubeconfigs for logical clusters. Each cluster has one administrator's token, kept beside the certificates. The hub's
 * opens every cluster; a cluster's own opens nothing else, and dies with the cluster: one that is made anew under the
 * same name has another.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ApiServer } from "../apiserver/index.ts";
import { systemRandom } from "../base/index.ts";
import type { Log } from "../base/index.ts";
import { renderKubeconfig } from "../client/index.ts";
import { HUB } from "./hub.ts";

export interface ClusterAccess {
  /** Throws 404 for a cluster that is not there. */
  kubeconfig(cluster: string): Promise<string>;
  /** Removes the tokens of clusters that ended while nobody looked. Those that end from now on take theirs along. */
  prune(): Promise<void>;
  /** Lets removals that are under way come to their end. */
  close(): Promise<void>;
}

export function createClusterAccess(options: {
  server: Pick<ApiServer, "tokens" | "clusterId" | "clusters" | "onClusterGone">;
  pki: string;
  ca: string;
  log: Log;
  endpointOf(cluster: string): string;
}): ClusterAccess {
  const { server, pki, ca, log, endpointOf } = options;
  const known = new Map<string, string>();
  const kept = join(pki, "clusters");
  const removals = new Set<Promise<void>>();
  const stopListening = server.onClusterGone((cluster, id) => {
    known.delete(id);
    // The token opens nothing any more; the next start prunes what is left.
    const removal = rm(join(kept, `${id}.token`), { force: true })
      .catch((error: unknown) => log.warn("removing the token of a cluster failed", { cluster, error }))
      .finally(() => removals.delete(removal));
    removals.add(removal);
  });
  const access: ClusterAccess = {
    async kubeconfig(cluster) {
      const id = server.clusterId(cluster);
      let token = known.get(id);
      if (token === undefined) {
        token = await keptSecret(cluster === HUB ? join(pki, "admin.token") : join(kept, `${id}.token`), newToken);
        // While the file was read the cluster may have been replaced by another of its name, which has its own token.
        if (server.clusterId(cluster) !== id) return access.kubeconfig(cluster);
        server.tokens.add({
          token,
          user: "admin",
          groups: ["system:masters"],
          cluster: cluster !== HUB ? cluster : undefined,
        });
        known.set(id, token);
      }
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), ca, token });
    },
    async prune() {
      const files = await filesIn(kept);
      // Asked for after the files: a cluster that is made meanwhile keeps its own.
      const current = new Set(server.clusters().map((cluster) => `${server.clusterId(cluster)}.token`));
      for (const file of files)
        if (file.endsWith(".token") && !current.has(file)) await rm(join(kept, file), { force: true });
    },
    async close() {
      stopListening();
      await Promise.all(removals);
    },
  };
  return access;
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
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
