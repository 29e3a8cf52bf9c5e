/** Registers a cluster with a hub of which only a token is known, with the same steps as Karmada's tools. */
import { karmadaAccess, karmadaIdentity, kubeconfigOf, readClusterInfo, requestCertificate } from "@flotilla/flotilla";
import type { AgentIdentity } from "@flotilla/flotilla";
import { Cluster, executionNamespace, SYSTEM_LABEL } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Namespace, Role, RoleBinding } from "@flotilla/kubernetes";
import { HUB, isAlreadyExists } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, silentLog, sleep, systemClock, systemRandom, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Registered, RegisterOptions } from "@flotilla/cli";
import { createClient, createHttp2Transport, find, UnreachableError } from "@flotilla/client";
import type { Client, Credentials, Transport } from "@flotilla/client";

const RETRY_MS = 2_000;
/** A short interruption of the hub is not reported. */
const REPORT_AFTER_FAILURES = 2;
const surroundings = { clock: systemClock, random: systemRandom, log: silentLog };
/** The identity that may grant an agent's rights; its name is Karmada's. */
const generator = (cluster: string): AgentIdentity => ({
  commonName: "system:karmada:agent:rbac-generator",
  organizations: ["system:karmada:agents"],
  labels: {},
  requestPrefix: `agent-rbac-generator-${cluster}-`,
});

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

    progress("requesting the right to register");
    const granting = await requestCertificate(
      { hub: HUB, client: bootstrap, identity: generator(cluster), ...surroundings },
      signal,
    );
    const granter = connect(server, trust, granting);
    if (await find(granter, Cluster, { cluster: HUB, name: cluster }, { signal }))
      throw new FlotillaError(
        "NameTaken",
        `the hub already has a cluster ${cluster}; choose another name with --cluster-name, or remove it with 'flotilla unjoin ${cluster}'`,
      );
    progress(`granting the agent of ${cluster} its rights`);
    await grant(granter, cluster, signal);

    progress("requesting the agent's certificate");
    const own = await requestCertificate(
      {
        hub: HUB,
        client: bootstrap,
        identity: karmadaIdentity(cluster),
        expirationSeconds: certificateSeconds,
        ...surroundings,
      },
      signal,
    );
    const address = { name: "hub", server: server.href.replace(/\/+$/, ""), ca, proxyUrl: "" };
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
  { timeoutMs, onTrouble, clock }: Pick<RegisterOptions, "timeoutMs" | "onTrouble"> & { clock: Clock },
  signal: AbortSignal,
): Promise<T> {
  const untilMs = clock.now() + timeoutMs;
  for (let failures = 0; ;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof UnreachableError) || isUnknownName(error) || clock.now() >= untilMs) throw error;
      if (++failures === REPORT_AFTER_FAILURES)
        onTrouble(`${error.message}; retrying for ${timeoutMs / 1000} s (--discovery-timeout)`);
      await sleep(clock, RETRY_MS, signal);
    }
  }
}

const isUnknownName = ({ cause }: UnreachableError): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOTFOUND";

async function grant(client: Client, cluster: string, signal: AbortSignal): Promise<void> {
  const ensure = async <T extends KubernetesObject>(kind: Kind<T>, object: DeepReadonly<T>): Promise<void> => {
    try {
      await client.create(kind, HUB, object, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const { clusterRole, clusterRoleBinding, roles, roleBindings } = karmadaAccess(cluster);
  await ensure(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: executionNamespace(cluster), labels: { [SYSTEM_LABEL]: "true" } },
  });
  await ensure(ClusterRole, clusterRole);
  await ensure(ClusterRoleBinding, clusterRoleBinding);
  for (const role of roles) await ensure(Role, role);
  for (const binding of roleBindings) await ensure(RoleBinding, binding);
}
