/**
 * The API server without a transport: requests in, answers out. It owns the logical clusters, what they serve, and the
 * work that goes on by itself (garbage collection, emptying namespaces). The store below it belongs to whoever opened
 * it.
 */
import type { AnyAdmission } from "../api/index.ts";
import { FlotillaError } from "../base/index.ts";
import type { Clock, Log, MetricsText, Random } from "../base/index.ts";
import type { Transport } from "../client/index.ts";
import type { Cache } from "../store/index.ts";
import { createAccountTokens } from "./access/account-tokens.ts";
import { createBearerTokens } from "./access/bearer-tokens.ts";
import { createBootstrapTokens } from "./access/bootstrap-tokens.ts";
import type { BearerTokens } from "./access/bearer-tokens.ts";
import { createEscalationCheck } from "./access/escalation.ts";
import { markUsed } from "./access/last-used.ts";
import { createRbac } from "./access/rbac.ts";
import { MASTERS, memberOf } from "./request/authorize.ts";
import { createActions } from "./action.ts";
import { builtInActions } from "./actions/index.ts";
import { createAdmissions } from "./write/admit.ts";
import { createServiceAllocation } from "./allocation/service-allocation.ts";
import { createServiceAddresses } from "./allocation/service-addresses.ts";
import { createEndpointsRemoval } from "./allocation/service-endpoints.ts";
import { createDefaultRange } from "./allocation/service-ranges.ts";
import { createBackPressure } from "./watch/back-pressure.ts";
import { ListTurns } from "./watch/list-turns.ts";
import { createBackground } from "./background/background.ts";
import { createCleanup } from "./background/cleanup.ts";
import { createEventExpiry } from "./background/event-expiry.ts";
import { createClusterRegistry } from "./clusters/clusters.ts";
import type { LogicalCluster } from "./clusters/clusters.ts";
import type { ConnectBackend } from "./connect/backend.ts";
import { createControllerLeases } from "./clusters/controller-leases.ts";
import { createDefinitionStatus } from "./crd/status.ts";
import { writeDefinitionStatus } from "./crd/status-writer.ts";
import type { ProtobufDecoder } from "./write/decode.ts";
import { createDirectTransport } from "./direct-transport.ts";
import { createGarbageCollector } from "./background/garbage-collection.ts";
import { createHandler } from "./handler.ts";
import { createHousekeeping } from "./background/housekeeping.ts";
import { InFlight } from "./write/in-flight.ts";
import { Siblings } from "./write/siblings.ts";
import { createServerMetrics } from "./metrics/server-metrics.ts";
import { createObjectStore } from "./clusters/objects.ts";
import { findCluster } from "./operations.ts";
import type { OperationDependencies } from "./operations.ts";
import { builtInPlugins } from "./plugins/index.ts";
import { createCertificatePlugins } from "./plugins/certificates.ts";
import { createDeviceClaims } from "./plugins/device-claims.ts";
import { createVolumeLifecycle } from "./plugins/volume-lifecycle.ts";
import { createProfileLayer } from "./clusters/profiles.ts";
import type { Profile } from "./clusters/profiles.ts";
import type { ApiRequest, ApiResponse, UserInfo } from "./request/request.ts";
import type { WorkloadMetrics } from "./read/pages.ts";
import { VERSION } from "./read/version.ts";
import type { VersionInfo } from "./read/version.ts";
import { createWriteCounter } from "./write/writes.ts";
import type { WriteCounter } from "./write/writes.ts";

export interface ApiServerOptions {
  cache: Cache;
  clock: Clock;
  random: Random;
  log: Log;
  admissions: readonly AnyAdmission[];
  profiles: Readonly<Record<string, Profile>>;
  /**
   * Who issues tokens of service accounts, and the PEM of the key that signs them; unset makes a key that lives as long
   * as the process.
   */
  serviceAccounts?: { issuer?: string; signingKey?: () => Promise<string> };
  /** Group of the controllers that belong to this server (`IsController`); unset means that there are none. */
  controllerGroup?: string;
  /** Unset refuses protobuf bodies, with a clear text. */
  decodeProtobuf?: ProtobufDecoder;
  version?: VersionInfo;
  /** What runs the containers of the clusters, for logs, commands and proxies. */
  connect?: ConnectBackend;
  /**
   * The controllers that run in this process: their figures are on the hub's `/metrics`, and they have a check in
   * `/readyz`.
   */
  controllers?: { writeMetrics(text: MetricsText): void; problems(): readonly string[] };
  /** Whether the store takes writes, for a check in the hub's `/readyz`; unset is yes. */
  takesWrites?(): boolean;
  /**
   * Figures of what runs on the members: on each cluster's `/metrics`, and together on the hub's `/metrics/members`.
   */
  workloads?: WorkloadMetrics;
  /** For tests: whatever is handed out is frozen. */
  freeze?: boolean;
}

export interface ApiServer {
  /** Never throws: failures are a Status. */
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Direct calls for controllers in this process, with one identity. */
  transport(user: UserInfo): Transport;
  /** Stored; adding a cluster that is there with the same profile does nothing. */
  addCluster(name: string, profile: string): Promise<void>;
  /** Removes a cluster with everything in it. */
  removeCluster(name: string): Promise<void>;
  clusters(): string[];
  /** What a cluster started from; undefined when there is none of that name. */
  profileOf(name: string): string | undefined;
  /** The cluster has a kube-controller-manager of its own at work. */
  isManagedElsewhere(cluster: string): boolean;
  /** Tells a cluster from an earlier one of the same name. Throws 404 when there is none. */
  clusterId(name: string): string;
  /** Whether that cluster is there now. */
  isCluster(name: string, id: string): boolean;
  /**
   * Tells of clusters that are gone with everything in them; another of the name may be there already. `id` is what
   * `clusterId` said.
   */
  onClusterGone(listener: (name: string, id: string) => void): () => void;
  /** Whether a cluster serves a resource now, in some version. */
  serves(cluster: string, group: string, resource: string): boolean;
  /** Tells of every cluster that is there, and from then on of those that are added or whose kinds change. */
  onServed(listener: (cluster: string) => void): () => void;
  /** Whose bearer tokens are, for the front door; tokens can be added while it runs. */
  readonly tokens: BearerTokens;
  /** A token for a service account that is good as long as the Secret that holds it. */
  issueSecretToken(
    cluster: string,
    namespace: string,
    account: { name: string; uid: string },
    secret: string,
  ): Promise<string>;
  readonly writes: Pick<WriteCounter, "total" | "counts">;
  /** True when nothing is on its way: every write visible, every watcher told, no work of the server's own left. */
  isQuiet(): boolean;
  /** The server will stop: it says that it is not ready any more, and still answers. */
  drain(): void;
  close(): Promise<void>;
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { cache, clock, random, log, admissions, controllerGroup, version = VERSION } = options;
  const profiles = new Map(
    Object.entries(options.profiles).map(([name, profile]) => [name, createProfileLayer(name, profile)]),
  );
  const knownKinds = Object.values(options.profiles).flatMap(({ customs }) => customs);
  const writes = createWriteCounter();
  const stopping = new AbortController();
  const lists = new ListTurns();
  const inFlight = new InFlight();
  const store = createObjectStore(cache, writes, inFlight);
  const clusters = createClusterRegistry({ cache, clock, random, log, profiles, knownKinds, inFlight });
  const authorizer = createRbac({ cache, clusters, store });
  const accountTokens = createAccountTokens({
    store,
    clock,
    ...options.serviceAccounts,
    onSecretTokenUsed: (cluster, namespace, secret, day) => markUsed(house, cluster, namespace, secret, day),
  });
  const tokens = createBearerTokens({
    accounts: { tokens: accountTokens, bootstrap: createBootstrapTokens({ store, clock }), clusters },
  });
  const allocation = createServiceAllocation({ cache, random });
  const definitions = createDefinitionStatus({
    cache,
    store,
    clusters,
    clock,
    writeStatus: (cluster, name, change) => writeDefinitionStatus(deps, cluster, name, change, stopping.signal),
  });
  const deps: OperationDependencies = {
    cache,
    store,
    clusters,
    definitions,
    inFlight,
    siblings: new Siblings(),
    admissions: createAdmissions(admissions),
    // Allocation first: it relies on being the first that reserves anything.
    plugins: [
      allocation.plugin,
      createVolumeLifecycle({ clock }),
      createDeviceClaims({ clock, authorizer }),
      ...createCertificatePlugins({
        authorizer,
        restrictedGroups: [MASTERS, ...(controllerGroup === undefined ? [] : [controllerGroup])],
      }),
      ...builtInPlugins,
      createEscalationCheck(authorizer),
    ],
    actions: createActions(builtInActions),
    pressure: createBackPressure({ clock }),
    clock,
    random,
    authorizer,
    isController: controllerGroup === undefined ? () => false : memberOf(controllerGroup),
    accountTokens,
    tokens,
  };
  const background = createBackground({ clock, log });
  const leases = createControllerLeases({
    clock,
    onLapse(cluster) {
      const content =
        clusters.get(cluster)?.table.resources.flatMap(({ prefix }) => cache.list(`${prefix}${cluster}/`)) ?? [];
      collector.load(content);
      cleanup.load(content);
    },
  });
  const house = createHousekeeping({ ...deps, background, leases, signal: stopping.signal });
  const collector = createGarbageCollector(house);
  const cleanup = createCleanup({ house, store, clusters, clock, inFlight, collector });
  const eventExpiry = createEventExpiry({ house, cache, clock });
  const health = {
    draining: false,
    areControllersHealthy: () => (options.controllers?.problems().length ?? 0) === 0,
    takesWrites: () => options.takesWrites?.() ?? true,
  };
  const metrics = createServerMetrics((cluster) => clusters.get(cluster) !== undefined);
  const endpointsRemoval = createEndpointsRemoval(house);
  const addresses = createServiceAddresses({ house, cache, holderOf: allocation.holderOf });
  const defaultRange = createDefaultRange({ house, clock });
  let undelivered = 0;

  const stopWatching = cache.watch("/", cache.revision, (events) => {
    for (const event of events) {
      leases.observe(event);
      collector.observe(event);
      cleanup.observe(event);
      eventExpiry.observe(event);
      allocation.observe(event);
      endpointsRemoval.observe(event);
      addresses.observe(event);
      defaultRange.observe(event);
    }
  });
  clusters.subscribe(({ type, cluster: { name } }) => {
    // What a later cluster of the name has promised or counted by now is its own.
    if (type !== "gone" || clusters.get(name)) return;
    allocation.forget(name);
    metrics.forget(name);
  });
  const present = cache.list("/");
  leases.load(present);
  collector.load(present);
  cleanup.load(present);
  eventExpiry.load(present);
  addresses.load(present);
  await clusters.finishRemovals();
  await definitions.settleAll();

  const handle = createHandler({
    deps,
    log,
    version,
    stopping: stopping.signal,
    health,
    metrics,
    writeControllerMetrics: options.controllers ? options.controllers.writeMetrics : undefined,
    workloads: options.workloads,
    connect: options.connect,
    decodeProtobuf: options.decodeProtobuf,
  });
  return {
    handle,
    transport: (user) =>
      createDirectTransport({
        deps,
        user,
        handle,
        freeze: options.freeze ?? false,
        lists,
        track: (change) => {
          undelivered += change;
        },
      }),
    addCluster: (name, profile) => clusters.add(name, profile),
    removeCluster: (name) => clusters.remove(name),
    clusters: () => clusters.all().map(({ name }) => name),
    profileOf: (name) => clusters.get(name)?.profile.name,
    isManagedElsewhere: leases.isHeld,
    clusterId: (name) => idOf(findCluster(deps, name)),
    isCluster(name, id) {
      const cluster = clusters.get(name);
      return cluster !== undefined && idOf(cluster) === id;
    },
    onClusterGone: (listener) =>
      clusters.subscribe(({ type, cluster }) => {
        if (type === "gone") listener(cluster.name, idOf(cluster));
      }),
    serves: (cluster, group, resource) => clusters.get(cluster)?.table.resource(group, resource) !== undefined,
    onServed(listener) {
      for (const { name } of clusters.all()) listener(name);
      return clusters.subscribe(({ type, cluster }) => {
        if (type === "added" || type === "table") listener(cluster.name);
      });
    },
    tokens,
    async issueSecretToken(clusterName, namespace, account, secret) {
      const cluster = clusters.get(clusterName);
      if (!cluster) throw new FlotillaError("Cluster", `making a token in the cluster ${clusterName}: it was removed`);
      return accountTokens.issueForSecret(cluster, namespace, account, secret);
    },
    writes,
    isQuiet: () => cache.isQuiet() && background.isQuiet() && undelivered === 0,
    drain() {
      health.draining = true;
    },
    async close() {
      health.draining = true;
      stopping.abort(new Error("the API server is stopping"));
      stopWatching();
      leases.close();
      eventExpiry.close();
      await background.close();
      authorizer.close();
      clusters.close();
    },
  };
}

/** No two clusters are made by the same write. */
const idOf = ({ name, revision }: LogicalCluster): string => `${name}.${revision}`;
