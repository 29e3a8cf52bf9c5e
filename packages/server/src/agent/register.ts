/**
 * Registers a cluster with a hub of which only a token is known. The hub grants the agent its permissions when it
 * approves the certificate.
 */
import { karmadaIdentity, kubeconfigOf, readClusterInfo, requestCertificate } from "@flotilla/flotilla";
import { ConfigMap } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import { silentLog, sleep, systemClock, systemRandom, UsageError } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Registered, RegisterOptions } from "@flotilla/cli";
import { createClient, createHttp2Transport, UnreachableError } from "@flotilla/client";
import type { Client, Credentials, Transport } from "@flotilla/client";

const RETRY_MS = 2_000;
/** A short interruption of the hub is not reported. */
const REPORT_AFTER_FAILURES = 2;
const environment = { clock: systemClock, random: systemRandom, log: silentLog };

export async function register(
  options: RegisterOptions,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Registered> {
  const { cluster, token, certificateSeconds } = options;
  const opened: Transport[] = [];
  const connect = (server: URL, trust: { ca?: string; insecure?: boolean }, identity: Credentials): Client => {
    const transport = createHttp2Transport({
      server,
      ...trust,
      ...identity,
      cluster: { only: HUB },
      userAgent: "flotilla-register",
    });
    opened.push(transport);
    return createClient({ transport, fieldManager: "flotilla-register" });
  };
  try {
    const server = addressOf(options.endpoint);
    progress(`reading the cluster info of ${server.host}`);
    const info = await discover(connect(server, { insecure: true }, {}), options, signal);
    const { ca } = readClusterInfo(info, options);
    const trust = ca === "" ? {} : { ca };
    const bootstrap = connect(server, trust, { token });

    progress("requesting the agent's certificate");
    const own = await requestCertificate(
      {
        hub: HUB,
        client: bootstrap,
        identity: karmadaIdentity(cluster),
        expirationSeconds: certificateSeconds,
        ...environment,
      },
      signal,
    );
    const address = { name: "hub", server: server.href.replace(/\/+$/, ""), ca, proxyUrl: "", others: [] };
    return { server: address.server, kubeconfig: kubeconfigOf({ address, cluster, agent: cluster, ...own }) };
  } finally {
    await Promise.all(opened.map((transport) => transport.close()));
  }
}

/** Throws `UsageError` for an invalid address. */
export function addressOf(endpoint: string): URL {
  const server = URL.parse(endpoint.includes("://") ? endpoint : `https://${endpoint}`);
  if (server?.protocol !== "https:")
    throw new UsageError(
      `'${endpoint}' is not a valid hub address; use host and port, for example hub.example.com:6443`,
    );
  return server;
}

async function discover(
  client: Client,
  options: RegisterOptions,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const read = async (): Promise<Readonly<Record<string, string>>> =>
    (await client.get(ConfigMap, { cluster: HUB, namespace: "kube-public", name: "cluster-info" }, { signal })).data ??
    {};
  return untilAnswered(read, { ...options, clock: systemClock }, signal);
}

/**
 * Retries while the hub does not respond, up to the timeout. The reason is reported once, because the user may be able
 * to fix it. An unknown host name is not retried.
 */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  { timeoutMs, onProblem, clock }: Pick<RegisterOptions, "timeoutMs" | "onProblem"> & { clock: Clock },
  signal: AbortSignal,
): Promise<T> {
  const untilMs = clock.now() + timeoutMs;
  for (let failures = 0; ;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof UnreachableError) || isUnknownName(error) || clock.now() >= untilMs) throw error;
      if (++failures === REPORT_AFTER_FAILURES)
        onProblem(`${error.message}; retrying for ${timeoutMs / 1000} s (--discovery-timeout)`);
      await sleep(clock, RETRY_MS, signal);
    }
  }
}

const isUnknownName = ({ cause }: UnreachableError): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOTFOUND";
