/**
 * What a process that serves a hub needs of files and the network: data directory, log, store, certificates, port and
 * kubeconfigs. `flotilla up` and `flotilla apiserver` share it.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import { ensureCertificates, HUB } from "@flotilla/apimachinery";
import type { Certificates } from "@flotilla/apimachinery";
import {
  createAdministratorTokens,
  createMemoryEngine,
  DamagedStoreError,
  createReplication,
  encryptEngine,
  guardSuccession,
  openSqliteEngine,
  readSuccessor,
  SupersededError,
  IdentityMetrics,
} from "@flotilla/apiserver";
import type { AdministratorTokens, ApiServer, ApiServerOptions, Auditor, Engine, Successor } from "@flotilla/apiserver";
import { every, FlotillaError, systemClock, systemRandom } from "@flotilla/base";
import type { Clock, Log, Random, Timer } from "@flotilla/base";
import type { HubProcessOptions } from "@flotilla/cli";
import { kubeconfigPath, logPath } from "@flotilla/cli";
import { renderKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { publishClusterInfo } from "@flotilla/kubernetes";
import { planAddress, urlOf } from "./address.ts";
import type { AddressPlan } from "./address.ts";
import { DECISIONS_FILE } from "./audit/decision-log.ts";
import { openAudit } from "./audit/open-audit.ts";
import { openEncryption } from "./data/open-encryption.ts";
import { openAuthorization } from "./identity/open-authorization.ts";
import { openIdentity } from "./identity/open-identity.ts";
import type { OpenedIdentity } from "./identity/open-identity.ts";
import { createClusterAccess } from "./cluster-access.ts";
import { writeSecret } from "./secret-file.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { ensureDirectory, STORE } from "./data/data-directory.ts";
import { openEtcdStore } from "./data/etcd-store.ts";
import { createFrontProxy } from "./data/front-proxy.ts";
import { CLIENT_SUBJECTS } from "./keys/client-subjects.ts";
import { hasHubKeys, openHubKeys } from "./keys/hub-keys.ts";
import type { HubKeys } from "./keys/hub-keys.ts";
import { missingKeysError, missingStandbyKeys, readKeyRecord, recordKeys } from "./keys/key-record.ts";
import type { Promoted } from "./standby/follow-until-promoted.ts";
import type { FrontProxy } from "./roles/api-server.ts";
import { HUB_RESOURCE } from "./roles/server-names.ts";
import { keepPrivate } from "./data/private-directory.ts";
import { refuseTakenPort } from "./process/port.ts";
import { createProcessLog } from "./process/process-log.ts";
import { refuseSecondStart } from "./process/running.ts";
import { sizeOfFiles } from "./data/store-size.ts";
import { watchStoreProblems } from "./data/store-problems.ts";
import type { WatchedStore } from "./data/store-problems.ts";
import { serveHttp } from "./serve-http.ts";
import { returnMemory } from "./process/return-memory.ts";
import { growYoungGeneration } from "./process/young-generation.ts";
import { FLOTILLA_GROUP } from "@flotilla/flotilla";

/** A store with this many writes takes a while to read, and what is read needs memory. */
const LONG_HISTORY = 10_000;

/** How soon the other API servers of a hub that was replaced end. */
const SUCCESSION_POLL_MS = 1_000;

type Replication = ReturnType<typeof createReplication>;

const storePath = (data: string): string => join(data, STORE);

/** What every hub is created with in this process. */
interface HubEnvironment extends WatchedStore, Pick<OpenedIdentity, "externalTokens" | "kubeletAuthority"> {
  clock: Clock;
  random: Random;
  log: Log;
  rootCertificate: string;
  authority: Certificates["authority"];
  frontProxy: FrontProxy;
  isExposed: boolean;
  signingKey(): Promise<string>;
  administrators: AdministratorTokens;
  keyFingerprints: HubKeys["fingerprints"];
  clusterKubeconfig(cluster: string, lifetimeMs: number): string;
  port(): number;
  auditor: Auditor | undefined;
  authorization: ApiServerOptions["authorization"];
  writeIdentityMetrics: ApiServerOptions["writeIdentityMetrics"];
  decisionsFile: string | undefined;
  storeBytes?(): number;
  storeQuotaBytes?: number;
  replication: Replication;
  onFailure(error: Error): void;
}

interface Serving {
  url: string;
  endpointOf(cluster: string): string;
  /** Writes the kubeconfigs of these clusters to the data directory; returns the files by cluster. */
  writeKubeconfigs(clusters: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface HubProcess {
  data: string;
  log: Log;
  logFile: string;
  environment: HubEnvironment;
  /** Starts to accept requests. `stop` of the hub is called when the process stops. */
  serve(hub: { server: ApiServer; client: Client; stop(): Promise<void> }, signal: AbortSignal): Promise<Serving>;
  /** From now on a store that takes no writes is reported instead of failing the start. */
  ready(): void;
  /** Resolves with the reason when the hub cannot continue, for example because its disk is full. */
  failed: Promise<Error>;
  stop(): Promise<void>;
}

/** What was opened, to be closed in reverse order. */
type Opened = (() => Promise<void>)[];

/** Opens everything that exists before the hub. What was opened is closed again when `use` throws. */
export async function withHubProcess<T>(
  options: HubProcessOptions,
  progress: (text: string) => void,
  signal: AbortSignal,
  use: (process: HubProcess) => Promise<T>,
): Promise<T> {
  const addresses = planAddress(options, networkInterfaces());
  const data = resolve(options.data);
  await ensureDirectory(data);
  const tightened = keepPrivate(data);
  await refuseSecondStart(data);
  await refuseTakenPort(options.port, addresses.bind);
  const opened: Opened = [];
  const stop = async (): Promise<void> => {
    for (const close of opened.splice(0).toReversed()) await close();
  };
  try {
    const process = await openProcess({ options, data, addresses, opened, stop, progress }, signal);
    if (tightened.length > 0)
      process.log.warn("removed permissions of other users", { files: tightened.length, first: tightened[0] });
    return await use(process);
  } catch (error) {
    await stop();
    const damage = damageIn(error);
    if (damage) throw new FlotillaError("Store", adviceOnDamage(damage.message, data));
    throw isOfFiles(error)
      ? new FlotillaError(
          "DataDirectory",
          `writing to the data directory ${data} failed; free space or fix permissions there, or choose another with --data DIR`,
          { cause: error },
        )
      : error;
  }
}

/** Damage is found when the store is opened, and when its objects are loaded. */
function damageIn(error: unknown): DamagedStoreError | undefined {
  if (error instanceof DamagedStoreError) return error;
  return error instanceof Error ? damageIn(error.cause) : undefined;
}

const adviceOnDamage = (message: string, data: string): string =>
  `${message}. Run 'flotilla fsck --data ${data}' to see what can be restored, restore a snapshot into a new ` +
  "directory, or remove the directory to start with an empty one";

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

function openStore({ store, ephemeral }: HubProcessOptions, data: string, log: Log): Promise<Engine> {
  if (store) return openEtcdStore(store, systemClock, log);
  return ephemeral ? Promise.resolve(createMemoryEngine()) : openSqliteEngine({ path: storePath(data) });
}

interface OpenOptions {
  options: HubProcessOptions;
  data: string;
  addresses: AddressPlan;
  opened: Opened;
  stop(): Promise<void>;
  progress(text: string): void;
}

async function openProcess(start: OpenOptions, signal: AbortSignal): Promise<HubProcess> {
  const { options, data, addresses, opened, stop, progress } = start;
  const logFile = logPath(data);
  const { log, fileOnly, close: closeLog } = createProcessLog(options.logLevel, logFile, options.logFormat);
  opened.push(closeLog);
  const encryption = await openEncryption(options.encryptionProviderConfig, { clock: systemClock, log });
  opened.push(encryption.close);
  const failed = Promise.withResolvers<Error>();
  const standby = await awaitPromotion({ options, data, log, opened, progress }, signal);
  progress("opening the store");
  const plain = await openStore(options, data, log);
  const { store, replication } = await openSuccession(plain, { log, opened, onSuperseded: failed.resolve });
  // Until everything runs, a disk that takes no writes fails the start, which reports it.
  let isReady = false;
  const encrypted = encryptEngine(store, encryption.rules);
  const watched = watchStoreProblems(encrypted, systemClock, fileOnly, (text) => isReady && options.onProblem?.(text));
  // The engines around the store close it.
  opened.push(() => watched.engine.close());
  if ((await watched.engine.revision()) > LONG_HISTORY) growYoungGeneration();

  progress("starting the API server");
  const pki = join(data, "pki");
  const keys = await openKeys(store, options.keys, pki, log);
  const certificatesOnDisk = (): Promise<Certificates> => ensureHubCertificates(pki, keys, addresses, log);
  const certificates = await certificatesOnDisk();
  const administrators = createAdministratorTokens(keys.administratorSecrets, () => systemClock.now());
  const metrics = new IdentityMetrics();
  const identity = await openIdentity(options.identity ?? {}, { clock: systemClock, log, metrics });
  opened.splice(-1, 0, async () => identity.close());
  const authorization = await openAuthorization(options.authorization ?? {}, { clock: systemClock, log, metrics });
  if (authorization) opened.splice(-1, 0, async () => authorization.close());
  const audit = await openAudit(options.audit ?? {}, { clock: systemClock, random: systemRandom, log, metrics });
  if (audit) opened.splice(-1, 0, audit.close);
  let access: ClusterAccess | undefined;
  // A free port is known once the server listens.
  let listening = options.port;

  return {
    data,
    log,
    logFile,
    environment: {
      ...watched,
      clock: systemClock,
      random: systemRandom,
      log,
      rootCertificate: keys.trusted,
      authority: certificates.authority,
      frontProxy: createFrontProxy(certificates),
      isExposed: addresses.isExposed,
      signingKey: keys.signingKeys,
      administrators,
      keyFingerprints: keys.fingerprints,
      auditor: audit?.auditor,
      externalTokens: identity.externalTokens,
      kubeletAuthority: identity.kubeletAuthority,
      authorization,
      writeIdentityMetrics: (text) => metrics.write(text),
      decisionsFile: options.ephemeral ? undefined : join(data, DECISIONS_FILE),
      clusterKubeconfig(cluster, lifetimeMs) {
        if (!access)
          throw new FlotillaError("Starting", `the hub is starting; ask for the kubeconfig of ${cluster} again`);
        return access.issue(cluster, lifetimeMs);
      },
      port: () => listening,
      storeQuotaBytes: options.storeQuotaBytes,
      storeBytes: options.ephemeral || options.store ? undefined : () => sizeOfFiles(storePath(data)),
      replication,
      onFailure: failed.resolve,
    },
    async serve({ server, client, stop: stopHub }, signal) {
      // The hub closes the store that it was given.
      opened.splice(-1, 1, stopHub);
      // Known once the server listens, which may be on a free port.
      let url = "";
      const endpointOf = (cluster: string): string => (cluster === HUB ? url : `${url}/clusters/${cluster}`);
      const { trusted, authority } = keys;
      const clusterAccess = createClusterAccess({
        server,
        tokens: administrators,
        authority,
        trusted,
        endpointOf,
        others: options.otherServers,
        lifetimeMs: options.kubeconfigLifetimeMs,
      });
      const port = await serveHttp(
        { server, certificates, certificatesOnDisk, addresses, data, options, ...identity, log },
        opened,
      );
      listening = port;
      url = urlOf(addresses.advertise, port);
      access = clusterAccess;
      await publishClusterInfo(client, HUB, { server: url, ca: trusted }, signal);
      await writeControllersKubeconfig({ data, url, others: options.otherServers }, certificates);
      const renewing = renewKubeconfigs(
        () => refreshKubeconfigs(data, server.clusters(), clusterAccess),
        systemClock,
        log,
      );
      opened.push(async () => renewing.cancel());
      return { url, endpointOf, writeKubeconfigs: (clusters) => writeKubeconfigs(data, clusters, clusterAccess) };
    },
    ready() {
      isReady = true;
      growYoungGeneration();
      const returning = returnMemory(systemClock);
      opened.push(async () => returning.cancel());
      standby?.serving().catch((error: unknown) => log.error("the state of the standby was not written", { error }));
    },
    failed: failed.promise,
    stop,
  };
}

/** A standby becomes the hub; any other process is one already. */
async function awaitPromotion(
  given: Omit<OpenOptions, "addresses" | "stop"> & { log: Log },
  signal: AbortSignal,
): Promise<Promoted | undefined> {
  const { options, data, log, opened, progress } = given;
  const { standbyOf, keys = join(data, "pki"), store } = options;
  if (standbyOf === undefined) return undefined;
  // Without them it would become another hub.
  if (!(await hasHubKeys(keys))) throw missingStandbyKeys(keys);
  const { followUntilPromoted } = await import("./standby/follow-until-promoted.ts");
  const clock = systemClock;
  const promoted = await followUntilPromoted({ data, primary: standbyOf, store, clock, log, progress }, signal);
  const stopFencing = promoted.fencePrimary();
  opened.push(async () => stopFencing());
  return promoted;
}

/** The store as this hub writes it, until another hub takes over; then the process ends. */
async function openSuccession(
  store: Engine,
  { log, opened, onSuperseded }: { log: Log; opened: Opened; onSuperseded(error: Error): void },
): Promise<{ store: Engine; replication: Replication }> {
  const before = await readSuccessor(store);
  if (before) {
    await store.close();
    throw new SupersededError(before);
  }
  const end = (successor: Successor): void => onSuperseded(new SupersededError(successor));
  // On a shared store another API server may have been asked.
  const looking = store.isShared
    ? every(systemClock, SUCCESSION_POLL_MS, () => {
        readSuccessor(store).then(
          (successor) => successor && end(successor),
          (error: unknown) => log.debug("the successor of this hub cannot be read now", { error }),
        );
      })
    : undefined;
  opened.push(async () => looking?.cancel());
  return {
    store: guardSuccession(store, end),
    replication: createReplication({
      engine: store,
      clock: systemClock,
      log,
      resource: HUB_RESOURCE,
      onSuperseded: end,
    }),
  };
}

/**
 * The keys that this server shares with others of its store. The first server of a store creates them in its data
 * directory. `folder` is one that an administrator filled, which is only read.
 */
async function openKeys(store: Engine, folder: string | undefined, pki: string, log: Log): Promise<HubKeys> {
  const directory = folder ?? pki;
  const isOfHub = store.isShared && (await readKeyRecord(store)) !== undefined;
  if (isOfHub && !(await hasHubKeys(directory))) throw missingKeysError(directory);
  const keys = await openHubKeys({
    directory,
    mayWrite: folder === undefined && !isOfHub,
    clock: systemClock,
    log,
  });
  if (store.isShared) await recordKeys(store, await keys.fingerprints(), directory);
  return keys;
}

/** Certificates of the server and of its own clients. */
function ensureHubCertificates(
  directory: string,
  authorities: HubKeys,
  { hosts }: AddressPlan,
  log: Log,
): Promise<Certificates> {
  return ensureCertificates({
    directory,
    authorities,
    hosts,
    clients: CLIENT_SUBJECTS,
    clock: systemClock,
    log,
  });
}

/** Their tokens have successors long before they expire. */
const RENEW_INTERVAL_MS = 60 * 60 * 1000;

/** Writes the kubeconfigs of the data directory again while the process runs. */
function renewKubeconfigs(refresh: () => Promise<void>, clock: Clock, log: Log): Timer {
  return every(clock, RENEW_INTERVAL_MS, () => {
    refresh().catch((error: unknown) =>
      log.error("writing kubeconfigs failed; it is tried again in an hour", { error }),
    );
  });
}

/** Writes those whose token has a successor. One that an operator removed stays removed. */
async function refreshKubeconfigs(data: string, clusters: readonly string[], access: ClusterAccess): Promise<void> {
  for (const cluster of clusters) {
    const file = kubeconfigPath(data, cluster);
    if (!existsSync(file)) continue;
    const text = access.kubeconfig(cluster);
    if ((await readFile(file, "utf8")) !== text) await writeSecret(file, text);
  }
}

async function writeControllersKubeconfig(
  { data, url, others }: { data: string; url: string; others: readonly string[] | undefined },
  certificates: Certificates,
): Promise<void> {
  const { certificate: cert, key } = certificates.clients["controllers"] ?? { certificate: "", key: "" };
  await writeSecret(
    kubeconfigPath(data, "controllers"),
    renderKubeconfig({ name: FLOTILLA_GROUP, server: url, others, ca: certificates.trusted, cert, key }),
  );
}

async function writeKubeconfigs(
  data: string,
  clusters: readonly string[],
  access: ClusterAccess,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const cluster of clusters) {
    const file = kubeconfigPath(data, cluster);
    await writeSecret(file, access.kubeconfig(cluster));
    files.set(cluster, file);
  }
  return files;
}
