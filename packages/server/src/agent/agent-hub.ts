/**
 * How an agent connects to its hub: with a bootstrap kubeconfig, to request credentials, or with the kubeconfig from
 * its registration.
 */
import { HUB } from "@flotilla/apimachinery";
import {
  createCredentialKeeper,
  introduce,
  karmadaIdentity,
  latestOf,
  managedClusterIdentity,
  registrationStateOf as standingOf,
} from "@flotilla/flotilla";
import type {
  CredentialStore,
  HubAddress,
  HubCredentials,
  Rotation,
  RegistrationState as Standing,
} from "@flotilla/flotilla";
import { systemClock, systemRandom, UsageError } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { AgentRunOptions } from "@flotilla/cli";
import { connectionOf, createClient, loadKubeconfig } from "@flotilla/client";
import type { CredentialSource, Kubeconfig, KubeconfigConnection, Transport } from "@flotilla/client";

const environment = { clock: systemClock, random: systemRandom };

export interface HubAccess {
  transport: Transport;
  server: string;
  agent: string;
  /** Registered through Karmada's API: the agent creates its own Cluster. */
  isKarmada: boolean;
  rotation(): Rotation | undefined;
  keep(signal: AbortSignal): Promise<void>;
  /** The cluster's registration state, read with the bootstrap identity; unset without one. */
  standing?(introduces: boolean, signal: AbortSignal): Promise<Standing>;
}

export type Open = (connection: KubeconfigConnection, credentials?: CredentialSource) => Transport;

interface BootstrapOptions {
  /** The file of the identity with which agents start. */
  kubeconfig: string;
  /** How the member introduces itself. */
  member: { id: string; server: string; ca: string };
  store: CredentialStore;
  open: Open;
  log: Log;
}

/**
 * Through Open Cluster Management's API: all agents start with the same identity, and get their own when the cluster is
 * accepted.
 */
export async function withBootstrap(
  { cluster, certificateSeconds }: AgentRunOptions,
  options: BootstrapOptions,
  signal: AbortSignal,
): Promise<HubAccess> {
  const { kubeconfig, member, store, open, log } = options;
  const config = await loadKubeconfig(kubeconfig);
  const connection = await connectionOf(config);
  const address = addressOf(config, connection);
  let rotation: Rotation | undefined;
  const source: CredentialSource = {
    current: () => keeper.source.current(),
    replace: (refused) => keeper.source.replace(refused),
  };
  const { token: _token, cert: _cert, key: _key, credentials: _credentials, ...plain } = connection;
  const transport = open(plain, source);
  const bootstrap = createClient({ transport: open(connection), fieldManager: "flotilla-agent" });
  const introduction = { hub: HUB, cluster, ...member };
  const keeper = createCredentialKeeper({
    hub: HUB,
    address,
    cluster,
    agent: member.id,
    identityOf: (agent) => managedClusterIdentity(cluster, agent),
    store,
    bootstrap: { client: bootstrap, introduce: (client, _agent, stop) => introduce(client, introduction, stop) },
    client: createClient({ transport, fieldManager: "flotilla-agent" }),
    expirationSeconds: certificateSeconds,
    ...environment,
    log,
    onRotation: (latest) => (rotation = latest),
  });
  const { agent } = await keeper.obtain(signal);
  return {
    transport,
    server: address.server,
    agent,
    isKarmada: false,
    rotation: () => rotation,
    keep: keeper.keep,
    standing: (introduces, stop) => (introduces ? introduce : standingOf)(bootstrap, introduction, stop),
  };
}

/**
 * With the agent's own kubeconfig, from registration through Karmada's API: a certificate in it is renewed, other
 * credentials are used unchanged.
 */
export async function withKubeconfig(
  options: AgentRunOptions,
  store: CredentialStore,
  open: Open,
  log: Log,
  signal: AbortSignal,
): Promise<HubAccess> {
  const { cluster, hubKubeconfig } = options;
  if (hubKubeconfig === undefined)
    throw new UsageError("--bootstrap-kubeconfig FILE is required, or --hub-kubeconfig FILE for a registered agent");
  const config = await loadKubeconfig(hubKubeconfig);
  const connection = await connectionOf(config);
  const address = addressOf(config, connection);
  const identity = karmadaIdentity(cluster);
  const still = { server: address.server, agent: cluster, isKarmada: true, rotation: () => undefined };
  const { cert, key } = connection;
  if (cert === undefined || key === undefined || connection.credentials)
    return { ...still, transport: open(connection), keep: async () => {} };
  const given: HubCredentials = { address, cluster, agent: cluster, cert, key };
  const { token: _token, cert: _cert, key: _key, ...plain } = connection;
  const source: CredentialSource = {
    current: () => keeper.source.current(),
    replace: (refused) => keeper.source.replace(refused),
  };
  const transport = open(plain, source);
  const keeper = createCredentialKeeper({
    hub: HUB,
    address,
    cluster,
    agent: cluster,
    identityOf: () => identity,
    // A renewed credential wins over the original registration, and a repeated registration wins over both.
    store: { ...store, load: async (stop) => latestOf(await store.load(stop), given) },
    client: createClient({ transport, fieldManager: "flotilla-agent" }),
    ...environment,
    log,
  });
  await keeper.obtain(signal);
  return { ...still, transport, keep: keeper.keep };
}

function addressOf(
  { currentContext = "", contexts, clusters }: Kubeconfig,
  { server, ca = "", others = [] }: KubeconfigConnection,
): HubAddress {
  const name = contexts.get(currentContext)?.cluster ?? "";
  const proxyUrl = clusters.get(name)?.["proxy-url"];
  return {
    name,
    server: withoutSlash(server),
    ca,
    proxyUrl: typeof proxyUrl === "string" ? proxyUrl : "",
    others: others.map(withoutSlash),
  };
}

const withoutSlash = ({ href }: URL): string => href.replace(/\/+$/, "");
