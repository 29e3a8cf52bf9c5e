/**
 * Administrators' kubeconfigs for logical clusters.
 *
 * Those in the data directory have a token that expires, stored beside the certificates, and are written again with its
 * successor. The hub's token is valid for every cluster. A
 * cluster's own token is valid only there, and is deleted with the cluster: a cluster recreated under the same name gets
 * a new one. Those that the API issues have a certificate of the cluster that expires soon.
 */
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HUB } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import type { ApiServer } from "@flotilla/apiserver";
import { required, systemClock } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { renderKubeconfig } from "@flotilla/client";
import { keepTokens } from "./data/administrator-tokens.ts";
import type { AdministratorToken } from "./data/administrator-tokens.ts";
import { writeSecret } from "./secret-file.ts";

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

/** A quarter: a copy of a kubeconfig that is forgotten ends by itself. */
const LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;
const ADMINISTRATOR = { commonName: "admin", organizations: ["system:masters"] };

export function createClusterAccess(options: {
  server: Pick<ApiServer, "tokens" | "clusterId" | "clusters" | "onClusterGone">;
  pki: string;
  authority: Pick<CertificateAuthority, "certificate" | "issueClusterClient">;
  log: Log;
  endpointOf(cluster: string): string;
  /** How long a token is valid; it has a successor after half of that. */
  lifetimeMs?: number | undefined;
  clock?: Clock;
}): ClusterAccess {
  const { server, pki, authority, log, endpointOf, lifetimeMs = LIFETIME_MS, clock = systemClock } = options;
  const ca = authority.certificate;
  const known = new Map<string, AdministratorToken>();
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
    const nowMs = clock.now();
    const admitted = known.get(id);
    if (admitted && admitted.expiresMs - nowMs > lifetimeMs / 2) return admitted.token;
    const path = cluster === HUB ? join(pki, "admin.token") : join(kept, `${id}.token`);
    const tokens = await keepTokens(path, { nowMs, lifetimeMs });
    // While the file was read, the cluster may have been replaced by another of its name, which has its own token.
    if (server.clusterId(cluster) !== id) return admit(cluster);
    for (const { token, expiresMs } of tokens)
      server.tokens.add({
        token,
        user: ADMINISTRATOR.commonName,
        groups: ADMINISTRATOR.organizations,
        cluster: cluster !== HUB ? cluster : undefined,
        expiresMs,
      });
    const newest = required(tokens[0], "the newest token");
    known.set(id, newest);
    return newest.token;
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
