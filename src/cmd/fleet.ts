/** Starts a fleet that the outside can reach: the hub of `hub.ts` with its store, certificates, kubeconfigs and a port. */
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createAuthenticator, createHttpServer, ensureCertificates } from "../apiserver/index.ts";
import { createLog, FlotillaError, sleep, systemClock, systemRandom } from "../base/index.ts";
import type { Log, LogLevel } from "../base/index.ts";
import type { Fleet, FleetOptions, FleetStarter } from "../cli/index.ts";
import { kubeconfigPath } from "../cli/index.ts";
import { renderKubeconfig } from "../client/index.ts";
import { Cluster } from "../api/index.ts";
import { isConditionTrue } from "../machinery/index.ts";
import { createMemoryEngine, openSqliteEngine } from "../store/index.ts";
import type { Engine } from "../store/index.ts";
import { ensureDirectory } from "./data-directory.ts";
import { createHub, HUB } from "./hub.ts";
import type { Hub } from "./hub.ts";

const HOST = "127.0.0.1";
const READY_POLL_MS = 20;

export const startFleet: FleetStarter = async (options, progress, signal) => {
  const data = resolve(options.data);
  const log = createStderrLog(options.logLevel);
  await ensureDirectory(data);

  progress("opening the store");
  const engine = options.ephemeral ? createMemoryEngine() : await openSqliteEngine({ path: join(data, "flotilla.db") });
  const opened: (() => Promise<void>)[] = [() => engine.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of opened.splice(0).toReversed()) await close();
  };
  try {
    return await startParts(options, data, engine, log, opened, closeAll, progress, signal);
  } catch (error) {
    await closeAll();
    throw error;
  }
};

async function startParts(
  options: FleetOptions,
  data: string,
  engine: Engine,
  log: Log,
  opened: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Fleet> {
  progress("starting the API server");
  const failed = Promise.withResolvers<Error>();
  const hub = await createHub({ engine, clock: systemClock, random: systemRandom, log, kruise: options.kruise, nodes: options.nodes, onFailure: failed.resolve });
  opened.splice(0, 1, () => hub.stop());
  const certificates = await ensureCertificates({
    directory: join(data, "pki"),
    hosts: [],
    clients: { admin: { commonName: "admin", organizations: ["system:masters"] } },
    clock: systemClock,
    log,
  });
  const token = await adminToken(join(data, "pki", "admin.token"));
  const http = createHttpServer({
    handle: (request) => hub.server.handle(request),
    authenticator: createAuthenticator({ tokens: [{ token, user: "admin", groups: ["system:masters"] }] }),
    tls: { ...certificates.serving, clientCa: certificates.authority.certificate },
    log,
  });
  opened.push(() => http.close());
  const { port } = await http.listen(options.port, HOST);
  const url = `https://${HOST}:${port}`;

  progress("starting the controllers");
  await hub.start(signal);
  progress(`adding ${options.members} members`);
  const endpointOf = (cluster: string): string => (cluster === HUB ? url : `${url}/clusters/${cluster}`);
  const wanted = Array.from({ length: options.members }, (_, index) => `member${index + 1}`);
  // Members of an earlier start are still members, also when this start asks for fewer.
  const members = await hub.addMembers(wanted, endpointOf, signal);

  progress("writing kubeconfigs");
  const { admin } = certificates.clients;
  if (!admin) throw new FlotillaError("Certificate", "the administrator's certificate was not made");
  const kubeconfigs = new Map<string, string>();
  for (const cluster of [HUB, ...members]) {
    const file = kubeconfigPath(data, cluster);
    await writeSecret(file, renderKubeconfig({ name: cluster, server: endpointOf(cluster), ca: certificates.authority.certificate, cert: admin.certificate, key: admin.key }));
    kubeconfigs.set(cluster, file);
  }

  progress("waiting for the members to be ready");
  await membersReady(hub, members, signal);
  return { url, members, kubeconfigs, stop: closeAll, failed: failed.promise };
}

async function membersReady(hub: Hub, members: readonly string[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await hub.client.list(Cluster, { cluster: HUB, signal });
    const ready = new Set(items.filter(({ status }) => isConditionTrue(status?.conditions ?? [], "Ready")).map(({ metadata }) => metadata.name));
    if (members.every((name) => ready.has(name))) return;
    await sleep(systemClock, READY_POLL_MS, signal);
  }
}

/** A bearer token for tools that cannot present a certificate. */
async function adminToken(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const token = Buffer.from(systemRandom.bytes(32)).toString("base64url");
  await writeSecret(path, `${token}\n`);
  return token;
}

/** Whole or not at all, and for nobody else to read. */
async function writeSecret(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}

function createStderrLog(level: LogLevel): Log {
  return createLog({
    level,
    clock: systemClock,
    write(line) {
      process.stderr.write(line, (error) => {
        if (error) process.exitCode = 1; // Nobody reads the log any more; the fleet goes on.
      });
    },
  });
}
