/** Starts a fleet with network access: the hub of `hub.ts` with its store, certificates, kubeconfigs and a port. */
import { join, resolve } from "node:path";
import {
  HEALTH_PATHS,
  createAuthenticator,
  createHttpServer,
  createSigningKey,
  ensureCertificates,
} from "../apiserver/index.ts";
import { FlotillaError, sleep, systemClock, systemRandom, UsageError } from "../base/index.ts";
import type { Log } from "../base/index.ts";
import type { Fleet, FleetOptions, FleetStarter } from "../cli/index.ts";
import { kubeconfigPath, logPath, VERSION } from "../cli/index.ts";
import { Cluster } from "../api/index.ts";
import { isConditionTrue } from "../machinery/index.ts";
import { createMemoryEngine, openSqliteEngine } from "../store/index.ts";
import { CLUSTER_INFO_PATH, publishClusterInfo } from "../system/index.ts";
import { createFeatureGates, parseFeatureGates } from "../workloads/index.ts";
import type { FeatureGates } from "../workloads/index.ts";
import { ensureDirectory } from "./data-directory.ts";
import { createClusterAccess, keptSecret, writeSecret } from "./cluster-access.ts";
import { createHub, HUB } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { keepCertificates } from "./keep-certificates.ts";
import { HOST, listen, refuseTakenPort } from "./port.ts";
import { createProcessLog } from "./process-log.ts";
import { noteRunning, refuseSecondStart } from "./running.ts";
import { sizeOfFiles } from "./store-size.ts";
import { watchStoreTroubles } from "./store-troubles.ts";
import type { WatchedStore } from "./store-troubles.ts";
import { growYoungGeneration } from "./young-generation.ts";

const READY_POLL_MS = 20;
/** Reading a store with this many writes takes a while, and needs memory. */
const LONG_HISTORY = 10_000;

const storePath = (data: string): string => join(data, "flotilla.db");

export const startFleet: FleetStarter = async (options, progress, signal) => {
  const kruiseGates = options.kruiseGates === undefined ? undefined : readGates(options.kruiseGates);
  const data = resolve(options.data);
  await ensureDirectory(data);
  await refuseSecondStart(data);
  await refuseTakenPort(options.port);
  const logFile = logPath(data);
  const { log, fileOnly, close: closeLog } = createProcessLog(options.logLevel, logFile, options.logFormat);
  const opened: (() => Promise<void>)[] = [closeLog];
  const closeAll = async (): Promise<void> => {
    for (const close of opened.splice(0).toReversed()) await close();
  };
  try {
    progress("opening the store");
    const store = options.ephemeral ? createMemoryEngine() : await openSqliteEngine({ path: storePath(data) });
    // During startup, an unwritable disk makes the start fail with its own error.
    let isReady = false;
    const { engine, takesWrites } = watchStoreTroubles(
      store,
      systemClock,
      fileOnly,
      (text) => isReady && options.onTrouble?.(text),
    );
    opened.push(() => engine.close());
    if ((await engine.revision()) > LONG_HISTORY) growYoungGeneration();
    const fleet = await startParts(
      options,
      kruiseGates,
      data,
      { engine, takesWrites },
      log,
      opened,
      closeAll,
      progress,
      signal,
    );
    isReady = true;
    return fleet;
  } catch (error) {
    await closeAll();
    throw isOfFiles(error)
      ? new FlotillaError(
          "DataDirectory",
          `writing to the data directory ${data}; check its free space and permissions, or choose another with --data DIR`,
          { cause: error },
        )
      : error;
  }
};

/** System errors about files do not state what to do, and not always the path. */
const OF_FILES: ReadonlySet<unknown> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EACCES",
  "EPERM",
  "EROFS",
  "EISDIR",
  "ENOTDIR",
  "ENOENT",
]);
const isOfFiles = (error: unknown): boolean => error instanceof Error && "code" in error && OF_FILES.has(error.code);

/** Throws `UsageError`: only the gate names can be wrong. */
function readGates(text: string): FeatureGates {
  try {
    return createFeatureGates(parseFeatureGates(text));
  } catch (error) {
    throw error instanceof FlotillaError ? new UsageError(`--kruise-gates: ${error.message}`) : error;
  }
}

async function startParts(
  options: FleetOptions,
  kruiseGates: FeatureGates | undefined,
  data: string,
  store: WatchedStore,
  log: Log,
  opened: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Fleet> {
  progress("starting the API server");
  const pki = join(data, "pki");
  const certificatesOnDisk = () =>
    ensureCertificates({
      directory: pki,
      hosts: [],
      clients: { admin: { commonName: "admin", organizations: ["system:masters"] } },
      clock: systemClock,
      log,
    });
  const certificates = await certificatesOnDisk();
  const failed = Promise.withResolvers<Error>();
  const hub = await createHub({
    ...store,
    clock: systemClock,
    random: systemRandom,
    log,
    kruise: options.kruise,
    kruiseGates,
    nodes: options.nodes,
    pull: options.pull,
    autoApprovedUsers: options.autoApprovedUsers,
    times:
      options.startMs !== undefined
        ? { startMs: options.startMs, restartMs: options.startMs, stopMs: options.startMs }
        : undefined,
    membershipTimes: options.membership,
    failover: options.failover,
    scheduling: options.scheduling,
    rootCertificate: certificates.authority.certificate,
    authority: certificates.authority,
    signingKey: () => keptSecret(join(pki, "service-accounts.key"), createSigningKey),
    clusterKubeconfig: (cluster) => access.kubeconfig(cluster),
    storeBytes: !options.ephemeral ? () => sizeOfFiles(storePath(data)) : undefined,
    onFailure: failed.resolve,
  });
  // The hub closes its store.
  opened.splice(-1, 1, () => hub.stop());
  const http = createHttpServer({
    handle: (request) => hub.server.handle(request),
    // As in Kubernetes: requests without credentials are anonymous, and allowed where the cluster's roles permit it
    // (health, the location of the hub).
    authenticator: createAuthenticator({
      tokens: hub.server.tokens,
      isCluster: hub.server.isCluster,
      anonymous: new Set([...HEALTH_PATHS, CLUSTER_INFO_PATH]),
    }),
    tls: { ...certificates.serving, clientCa: certificates.authority.certificate },
    log,
    onStopping: () => hub.server.drain(),
  });
  opened.push(() => http.close());
  const port = await listen(http, options.port);
  const url = `https://${HOST}:${port}`;
  opened.push(await noteRunning(data, { pid: process.pid, url }));
  const stopRenewing = keepCertificates({
    current: certificates,
    ensure: certificatesOnDisk,
    use: ({ serving }) => http.setTls({ ...serving, clientCa: certificates.authority.certificate }),
    clock: systemClock,
    log,
  });
  opened.push(async () => stopRenewing());
  log.info("serving", {
    url,
    version: VERSION,
    pid: process.pid,
    members: options.members,
    store: options.ephemeral ? "memory" : "sqlite",
  });
  const endpointOf = (cluster: string): string => (cluster === HUB ? url : `${url}/clusters/${cluster}`);
  const access = createClusterAccess({
    server: hub.server,
    pki,
    ca: certificates.authority.certificate,
    log,
    endpointOf,
  });
  opened.push(() => access.close());
  await access.prune();
  // Tokens from before the restart are valid again before the controllers have synced, also for clusters created
  // through the API.
  for (const cluster of hub.server.clusters()) await access.kubeconfig(cluster);
  await publishClusterInfo(hub.client, HUB, { server: url, ca: certificates.authority.certificate }, signal);

  progress("starting the controllers");
  await hub.start(signal);
  progress(`adding ${options.members} members`);
  const wanted = Array.from({ length: options.members }, (_, index) => `member${index + 1}`);
  // Members of an earlier start remain members, even when this start requests fewer.
  const members = await hub.addMembers(wanted, endpointOf, signal);

  progress("writing kubeconfigs");
  const kubeconfigs = new Map<string, string>();
  for (const cluster of [HUB, ...members]) {
    const file = kubeconfigPath(data, cluster);
    await writeSecret(file, await access.kubeconfig(cluster));
    kubeconfigs.set(cluster, file);
  }

  progress("waiting for the members to be ready");
  await membersReady(hub, members, signal);
  growYoungGeneration();
  log.info("ready", { url, members: members.length });
  return { url, members, kubeconfigs, data, logFile: logPath(data), stop: closeAll, failed: failed.promise };
}

async function membersReady(hub: Hub, members: readonly string[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await hub.client.list(Cluster, { cluster: HUB, signal });
    // The taint of a member that was not ready is removed a moment later; until then nothing is scheduled there.
    const ready = new Set(
      items
        .filter(
          ({ spec, status }) =>
            isConditionTrue(status?.conditions ?? [], "Ready") &&
            !spec.taints?.some(({ key }) => key === "cluster.karmada.io/not-ready"),
        )
        .map(({ metadata }) => metadata.name),
    );
    // A member that the user disconnected is not waited for.
    if (members.every((name) => ready.has(name) || hub.isCut(name))) return;
    await sleep(systemClock, READY_POLL_MS, signal);
  }
}
