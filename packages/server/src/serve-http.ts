/**
 * The port of a hub: the API, and below `/ui` the web UI. Its certificate is renewed while it serves.
 */
import type { Certificates } from "@flotilla/apimachinery";
import { HUB } from "@flotilla/apimachinery";
import { createAuthenticator, createHttpServer, HEALTH_PATHS } from "@flotilla/apiserver";
import type { ApiServer } from "@flotilla/apiserver";
import { systemClock, VERSION } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { HubProcessOptions } from "@flotilla/cli";
import { lastStartPath } from "@flotilla/cli";
import { isReplacedRegistration } from "@flotilla/flotilla";
import { CLUSTER_INFO_PATH } from "@flotilla/kubernetes";
import { localAddress, urlOf } from "./address.ts";
import type { AddressPlan } from "./address.ts";
import { createHubConsole } from "./console/hub-console.ts";
import type { HubConsole } from "./console/hub-console.ts";
import { openUiCertificate } from "./console/ui-certificate.ts";
import type { UiCertificate } from "./console/ui-certificate.ts";
import { keepCertificates } from "./data/keep-certificates.ts";
import type { OpenedIdentity } from "./identity/open-identity.ts";
import { listen } from "./process/port.ts";
import { noteRunning } from "./process/running.ts";
import { CLUSTER_ORGANIZATION_PREFIX } from "./roles/server-names.ts";
import { writeSecret } from "./secret-file.ts";

export interface HttpOptions {
  server: ApiServer;
  certificates: Certificates;
  /** The certificates on disk, renewed if necessary. */
  certificatesOnDisk(): Promise<Certificates>;
  addresses: AddressPlan;
  data: string;
  options: HubProcessOptions;
  /** Where nothing is configured, what every hub needs is admitted: health, and how agents find the hub. */
  anonymous: OpenedIdentity["anonymous"];
  proxies: OpenedIdentity["proxies"];
  log: Log;
}

const ALWAYS_ANONYMOUS: ReadonlySet<string> = new Set([...HEALTH_PATHS, CLUSTER_INFO_PATH]);

/** Listens, and records in the data directory that this process does; returns the port. */
export async function serveHttp(given: HttpOptions, opened: (() => Promise<void>)[]): Promise<number> {
  const { server, certificates, certificatesOnDisk, addresses, data, options, anonymous, proxies, log } = given;
  const clientCa = certificates.trusted;
  const ui =
    options.ui && (await openUi(options.ui, { addresses, ca: certificates.trusted, tokens: server.tokens, log }));
  const http = createHttpServer({
    handle: (request) => server.handle(request),
    onRejected: (request, error) => server.rejected(request, error),
    // As in Kubernetes, requests without credentials reach only what the cluster's roles open to everyone.
    authenticator: createAuthenticator({
      clusterPrefix: CLUSTER_ORGANIZATION_PREFIX,
      tokens: server.tokens,
      isCluster: server.isCluster,
      isReplaced: (cluster, user, registration) =>
        cluster === HUB && isReplacedRegistration(user, registration, server.read(HUB)),
      anonymous: () => anonymous() ?? ALWAYS_ANONYMOUS,
    }),
    tls: { ...certificates.serving, clientCa },
    proxies: proxies?.settings,
    otherPaths: ui?.console,
    namedTls: ui?.certificate?.contextOf,
    log,
    onStopping: () => server.drain(),
    stopAfterMs: options.shutdownDelayMs,
  });
  proxies?.follow((settings) => http.setProxies(settings));
  opened.push(() => http.close());
  // Before the port, which waits for the end of its connections.
  if (ui) opened.push(ui.close);
  const port = await listen(http, options.port, addresses.bind);
  ui?.listening(port);
  const url = urlOf(addresses.advertise, port);
  const { command = "up" } = options;
  opened.push(await noteRunning(data, { pid: process.pid, url, command }));
  await writeSecret(lastStartPath(data), `${JSON.stringify({ command, port })}\n`);
  const stopRenewing = keepCertificates({
    current: certificates,
    ensure: certificatesOnDisk,
    use: ({ serving }) => http.setTls({ ...serving, clientCa }),
    clock: systemClock,
    log,
  });
  opened.push(async () => stopRenewing());
  log.info("serving", { url, bind: addresses.bind, version: VERSION, pid: process.pid });
  for (const address of addresses.publicAddresses) {
    log.warn("listening on a public address", { address, port });
    options.onProblem?.(
      `listening on the public address ${address}:${port}; anyone on the internet can reach it and try ` +
        "credentials. Restrict it with a firewall, or listen elsewhere with --bind-address",
    );
  }
  return port;
}

interface OpenedUi {
  console: HubConsole;
  certificate: UiCertificate | undefined;
  listening(port: number): void;
  close(): Promise<void>;
}

async function openUi(
  { tls }: NonNullable<HubProcessOptions["ui"]>,
  { addresses, ca, tokens, log: hubLog }: { addresses: AddressPlan; ca: string; tokens: ApiServer["tokens"]; log: Log },
): Promise<OpenedUi> {
  const log = hubLog.with({ component: "ui" });
  let port = 0;
  // Clients of the API trust only the hub's own authority, so its names keep its certificate.
  const hubNames = new Set(["localhost", ...addresses.hosts].map((host) => host.toLowerCase()));
  const certificate = tls && (await openUiCertificate(tls, { hubNames, clock: systemClock, log }));
  const console = createHubConsole({
    address: () => new URL(urlOf(localAddress(addresses.bind), port)),
    url: () => urlOf(addresses.advertise, port),
    ca,
    hosts: addresses.hosts,
    certificateNames: () => certificate?.names() ?? [],
    knows: async (token, from) => "user" in (await tokens.authenticate(HUB, token, undefined, undefined, from)),
    log,
  });
  return {
    console,
    certificate,
    listening: (bound) => void (port = bound),
    async close() {
      certificate?.close();
      await console.close();
    },
  };
}
