/**
 * Administrators' kubeconfigs for logical clusters.
 *
 * Those in the data directory have a token, stored beside the certificates. The hub's token is valid for every cluster. A
 * cluster's own token is valid only there, and is deleted with the cluster: a cluster recreated under the same name gets
 * a new one. Those that the API issues have a certificate of the cluster that expires soon.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HUB } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import type { ApiServer } from "@flotilla/apiserver";
import { systemRandom } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import { renderKubeconfig } from "@flotilla/client";

export interface ClusterAccess {
  /** Makes the administrator token of every cluster valid. Before it resolves, clients with a valid token would get 401. */
  admitAll(): Promise<void>;
  /** With the stored token. Throws 404 for an unknown cluster. */
  kubeconfig(cluster: string): Promise<string>;
  /** With a certificate that is valid for this time. Throws 404 for an unknown cluster. */
  issue(cluster: string, lifetimeMs: number): string;
  /** Removes the tokens of clusters that were deleted while this process did not run. Later deletions remove theirs. */
  prune(): Promise<void>;
  /** Waits for removals in progress. */
  close(): Promise<void>;
}

const ADMINISTRATOR = { commonName: "admin", organizations: ["system:masters"] };

export function createClusterAccess(options: {
  server: Pick<ApiServer, "tokens" | "clusterId" | "clusters" | "onClusterGone">;
  pki: string;
  authority: Pick<CertificateAuthority, "certificate" | "issueClusterClient">;
  log: Log;
  endpointOf(cluster: string): string;
}): ClusterAccess {
  const { server, pki, authority, log, endpointOf } = options;
  const ca = authority.certificate;
  const known = new Map<string, string>();
  const kept = join(pki, "clusters");
  const removals = new Set<Promise<void>>();
  const stopListening = server.onClusterGone((cluster, id) => {
    known.delete(id);
    // The token is already invalid; the next start prunes the file.
    const removal = rm(join(kept, `${id}.token`), { force: true })
      .catch((error: unknown) => log.warn("removing the token of a cluster failed", { cluster, error }))
      .finally(() => removals.delete(removal));
    removals.add(removal);
  });
  /** Returns the administrator token of the cluster, and makes it valid. */
  const admit = async (cluster: string): Promise<string> => {
    const id = server.clusterId(cluster);
    const admitted = known.get(id);
    if (admitted !== undefined) return admitted;
    const token = await keptSecret(cluster === HUB ? join(pki, "admin.token") : join(kept, `${id}.token`), newToken);
    // While the file was read, the cluster may have been replaced by another of its name, which has its own token.
    if (server.clusterId(cluster) !== id) return admit(cluster);
    server.tokens.add({
      token,
      user: ADMINISTRATOR.commonName,
      groups: ADMINISTRATOR.organizations,
      cluster: cluster !== HUB ? cluster : undefined,
    });
    known.set(id, token);
    return token;
  };
  return {
    async admitAll() {
      for (const cluster of server.clusters()) await admit(cluster);
    },
    async kubeconfig(cluster) {
      const token = await admit(cluster);
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), ca, token });
    },
    issue(cluster, lifetimeMs) {
      const { certificate: cert, key } = authority.issueClusterClient(ADMINISTRATOR, {
        cluster: server.clusterId(cluster),
        lifetimeMs,
      });
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), ca, cert, key });
    },
    async prune() {
      const files = await filesIn(kept);
      // Read after the files: a cluster created meanwhile keeps its token.
      const current = new Set(server.clusters().map((cluster) => `${server.clusterId(cluster)}.token`));
      for (const file of files)
        if (file.endsWith(".token") && !current.has(file)) await rm(join(kept, file), { force: true });
    },
    async close() {
      stopListening();
      await Promise.all(removals);
    },
  };
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

/** A secret that an earlier start stored in a file, or a new one that is stored now. */
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

/** Atomic, and readable only by the user. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}
