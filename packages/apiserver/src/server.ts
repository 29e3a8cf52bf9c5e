/**
 * The API server without a transport. It owns the logical clusters, their resources, and the server's background work
 * (garbage collection, emptying namespaces). The caller owns the store.
 */
import { MASTERS_GROUP } from "@flotilla/kubernetes";
import type { AnyStep, ApiError, ClusterReader, ProtobufCodec } from "@flotilla/apimachinery";
import { createClusterReader } from "./clusters/cluster-reader.ts";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Log, MetricsText, Random } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import type { Cache } from "./store/cache.ts";
import { createAccountTokens } from "./access/account-tokens.ts";
import type { AdministratorTokens } from "./access/administrator-tokens.ts";
import { createBearerTokens } from "./access/bearer-tokens.ts";
import { createBootstrapTokens } from "./access/bootstrap-tokens.ts";
import type { BearerTokens } from "./access/bearer-tokens.ts";
import { createEscalationCheck } from "./access/escalation.ts";
import { markUsed } from "./background/last-used.ts";
import type { ExternalTokens } from "./access/external-tokens.ts";
import { createAuthorizerChain, DEFAULT_AUTHORIZERS } from "./access/authorizer-chain.ts";
import type { ConfiguredAuthorizer } from "./access/authorizer-chain.ts";
import { createNodeAuthorizer } from "./access/node-authorizer.ts";
import { createRbac } from "./access/rbac.ts";
import { memberOf } from "./request/authorize.ts";
import { createActions } from "./actions/action.ts";
import type { Action } from "./actions/action.ts";
import { builtInActions } from "./actions/index.ts";
import { createAdmissionChain } from "./admission/chain.ts";
import { createBuiltInSteps } from "./admission/index.ts";
import { createServiceAllocation } from "./services/allocation.ts";
import { createBackPressure } from "./watch/back-pressure.ts";
import { ListTurns } from "./watch/list-turns.ts";
import { createBackgroundWork } from "./background-work.ts";
import { createClusterRegistry } from "./clusters/clusters.ts";
import { clusterId } from "./clusters/layer.ts";
import type { LogicalCluster } from "./clusters/logical-cluster.ts";
import type { ConnectBackend } from "./connect/backend.ts";
import type { ClientIdentity } from "./connect/dial.ts";
import { createKubelets } from "./connect/kubelets.ts";
import { createAggregation } from "./aggregation/aggregation.ts";
import { frontProxyName } from "./aggregation/identity-headers.ts";
import { createConversions } from "./conversion/conversions.ts";
import { createConfiguredAdmission } from "./configured-admission/configured-admission.ts";
import { createDefinitionStatus } from "./crd/crd-status.ts";
import { writeDefinitionStatus } from "./write/definition-status.ts";
import { createDirectTransport } from "./serve/direct-transport.ts";
import { createFlowControl } from "./flowcontrol/flow-control.ts";
import type { Replication } from "./replication/replication.ts";
import type { Auditor } from "./audit/auditor.ts";
import { auditRejected } from "./serve/audited-request.ts";
import { createHandler } from "./serve/handler.ts";
import { createRequestTurns } from "./serve/request-turns.ts";
import { Siblings } from "./write/siblings.ts";
import { createServerMetrics } from "./serve/server-metrics.ts";
import { createObjectStore } from "./clusters/objects.ts";
import { createStoreQuota } from "./clusters/store-quota.ts";
import { blockedAddresses } from "./clusters/tenant-addresses.ts";
import { findCluster } from "./serve/operations.ts";
import type { OperationDependencies } from "./serve/operations.ts";
import { createProfileLayer } from "./clusters/profiles.ts";
import type { Profile } from "./clusters/profiles.ts";
import type { ApiRequest, ApiResponse } from "./request/request.ts";
import type { UserInfo } from "./request/user-info.ts";
import type { WorkloadMetrics } from "./serve/pages.ts";
import { VERSION } from "./discovery/version.ts";
import type { VersionInfo } from "./discovery/version.ts";
import { createWriteCounter } from "./clusters/write-counter.ts";
import type { WriteCounter } from "./clusters/write-counter.ts";

export interface ApiServerOptions {
  cache: Cache;
  clock: Clock;
  random: Random;
  log: Log;
  /** The steps of admission, in order: rules of kinds, and steps of products. The server adds its built-in steps. */
  admissions: readonly AnyStep[];
  profiles: Readonly<Record<string, Profile>>;
  /**
   * The issuer of service account tokens, and the PEM of the signing key; unset creates a key that is valid until the
   * process exits.
   */
  serviceAccounts?: { issuer?: string; signingKey?: () => Promise<string> };
  /** Tokens of administrators; unset: none. */
  administrators?: AdministratorTokens | undefined;
  /** Tokens that others issue: of identity providers, for example. */
  externalTokens?: ExternalTokens | undefined;
  /**
   * Who decides what users may do, in order; unset: the Node authorizer and the roles of each cluster. The list is read for each
   * decision, so another one may take its place.
   */
  authorization?: { readonly authorizers: readonly ConfiguredAuthorizer[] } | undefined;
  /** Writes the metrics of authorization webhooks and of configurations that changed; unset: there are none. */
  writeIdentityMetrics?: ((text: MetricsText) => void) | undefined;
  /** Group of the controllers that belong to this server (`IsController`); unset means that there are none. */
  controllerGroup?: string;
  /**
   * Programs of products that a cluster may run itself, by the namespace and name of their lease. The server knows
   * Kubernetes' own: `controller-manager` and `scheduler`.
   */
  foreignPrograms?: ReadonlyMap<string, string>;
  /**
   * The certificate with a common name with which aggregated servers and kubelets are called; it is signed by the CA that
   * clusters publish for them. Unset: aggregated servers cannot authenticate users, nor kubelets this server.
   */
  frontProxy?(commonName: string): ClientIdentity;
  /**
   * PEM: the authorities that sign the certificates of kubelets. Unset: any certificate is accepted, but no kubelet is called
   * if clients of other machines connect. Asked for each call, because authorities are replaced.
   */
  kubeletAuthority?: (() => string) | undefined;
  /**
   * On a Service of a cluster: `HOST:PORT` where this server calls it, instead of at its endpoints. Unset: there is no
   * such annotation.
   */
  addressAnnotation?: string;
  /** Clients of other machines connect. Logical clusters then may not name addresses of this one. */
  isExposed?: boolean | undefined;
  /** Unset rejects protobuf bodies with a clear error. */
  protobuf?: ProtobufCodec;
  /** How many requests run at the same time, in all clusters (ADR 0045). */
  maxSeats?: number;
  version?: VersionInfo;
  /** The container runtimes of the clusters, for logs, commands and proxies. */
  connect?: ConnectBackend;
  /** The controllers in this process: their metrics are on the hub's `/metrics`, and they have a check in `/readyz`. */
  controllers?: { writeMetrics(text: MetricsText): void; problems(): readonly string[] };
  /** Whether the store accepts writes, for a check in the hub's `/readyz`; unset is yes. */
  takesWrites?(): boolean;
  /** The size of all objects above which none may be created or grow; unset or 0 means no limit. */
  storeQuotaBytes?: number;
  /**
   * Metrics of the workloads on members: on each cluster's `/metrics`, and together on the hub's `/metrics/members`.
   */
  workloads?: WorkloadMetrics;
  /** Requests of products that code handles; the server adds those of Kubernetes. */
  actions?: readonly Action[];
  /** The audit log; unset audits nothing. */
  auditor?: Auditor | undefined;
  /** For standby hubs; unset: there can be none. */
  replication?: Replication | undefined;
  /** For tests: returned objects are frozen. */
  freeze?: boolean;
}

export interface ApiServer {
  /** Never throws: failures are returned as a Status. */
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** A request whose credentials were rejected before `handle`; only the audit log learns of it. */
  rejected(request: ApiRequest, error: ApiError): void;
  /** Direct calls for controllers in this process, with one identity. */
  transport(user: UserInfo): Transport;
  /** Stored. Adding a cluster that exists with the same profile does nothing. */
  addCluster(name: string, profile: string): Promise<void>;
  /** Removes a cluster with all its objects. */
  removeCluster(name: string): Promise<void>;
  clusters(): string[];
  /** The profile of a cluster; undefined when the cluster does not exist. */
  profileOf(name: string): string | undefined;
  /** Whether the cluster runs its own kube-controller-manager, or another program that this process stands in for. */
  isManagedElsewhere(cluster: string, program?: string): boolean;
  /** Notifies the listener when a cluster starts to run such a program. */
  onManagedElsewhere(listener: (cluster: string, program: string) => void): () => void;
  /** Whether this server issued a service account token, for this cluster. */
  isOwnToken(cluster: string, token: string): Promise<boolean>;
  /**
   * Identifies a cluster and distinguishes it from an earlier one of the same name. Throws 404 when it does not exist.
   */
  clusterId(name: string): string;
  /** Whether that cluster exists now. */
  isCluster(name: string, id: string): boolean;
  /**
   * Notifies the listener of clusters that were removed with all their objects; another cluster of the same name may
   * already exist. `id` is the value of `clusterId`.
   */
  onClusterGone(listener: (name: string, id: string) => void): () => void;
  /** Reads what a cluster stores now. Throws 404 when the cluster does not exist. */
  read(cluster: string): ClusterReader;
  /** Whether a cluster currently serves a resource in any version. */
  serves(cluster: string, group: string, resource: string): boolean;
  /** Notifies the listener of every existing cluster, and then of clusters that are added or whose kinds change. */
  onServed(listener: (cluster: string) => void): () => void;
  /** Authenticates bearer tokens for the front end; tokens can be added while the server runs. */
  readonly tokens: BearerTokens;
  /** Issues a service account token that is valid while its Secret exists. */
  issueSecretToken(
    cluster: string,
    namespace: string,
    account: { name: string; uid: string },
    secret: string,
  ): Promise<string>;
  readonly writes: Pick<WriteCounter, "total" | "counts">;
  /**
   * True when nothing is pending: every write is visible, every watcher is notified, and no background work is left.
   */
  isQuiet(): boolean;
  /** The server is about to stop: it reports not ready, and still answers requests. */
  drain(): void;
  close(): Promise<void>;
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { log, auditor } = options;
  const stopping = new AbortController();
  const stored = createStored(options);
  const { clusters, quota, writes } = stored;
  const roles = createRbac(stored);
  const isController = options.controllerGroup === undefined ? () => false : memberOf(options.controllerGroup);
  const nodes = createNodeAuthorizer(stored);
  const authorizer = createAuthorizerChain(
    { roles, nodes },
    options.authorization ?? { authorizers: DEFAULT_AUTHORIZERS },
    isController,
  );
  const configurable = createConfigurable(options, stored);
  const { configured, conversions, aggregation } = configurable;
  const allocation = createServiceAllocation({ cache: options.cache, random: options.random });
  const deps: OperationDependencies = {
    ...stored,
    ...configurable,
    ...createTokens(options, stored, (...use) => markUsed(work.housekeeping, ...use)),
    definitions: createDefinitionStatus({
      ...stored,
      writeStatus: (cluster, name, change) => writeDefinitionStatus(deps, cluster, name, change, stopping.signal),
    }),
    siblings: new Siblings(),
    chain: createAdmissionChain([
      ...options.admissions,
      ...builtInSteps(options, clusters),
      createEscalationCheck({ authorizer, clusters }),
      // Last, so that a Service that exceeds a quota takes no numbers.
      allocation.step,
    ]),
    actions: createActions([...builtInActions, ...(options.actions ?? [])]),
    pressure: createBackPressure(stored),
    random: options.random,
    authorizer,
    isController,
  };
  const work = createBackgroundWork({
    ...deps,
    log,
    allocation,
    foreignPrograms: options.foreignPrograms,
    signal: stopping.signal,
  });
  const health = {
    draining: false,
    areControllersHealthy: () => (options.controllers?.problems().length ?? 0) === 0,
    takesWrites: () => options.takesWrites?.() ?? true,
    isStoreNearlyFull: quota.isNearlyFull,
  };
  const metrics = createServerMetrics((cluster) => clusters.get(cluster) !== undefined);
  const flow = createFlowControl({ ...stored, serverSeats: options.maxSeats });

  forgetRemoved(clusters, [allocation, metrics, writes, configured, flow, conversions, aggregation]);
  work.start();
  await clusters.finishRemovals();
  await deps.definitions.settleAll();

  const turns = createRequestTurns();
  const lists = new ListTurns();
  let undelivered = 0;
  const handle = createHandler({
    deps,
    turns,
    log,
    version: options.version ?? VERSION,
    stopping: stopping.signal,
    health,
    metrics,
    auditor,
    writeIdentityMetrics: options.writeIdentityMetrics,
    writeControllerMetrics: options.controllers ? options.controllers.writeMetrics : undefined,
    workloads: options.workloads,
    connect: options.connect,
    kubeletsOf: configurable.kubeletsOf,
    protobuf: options.protobuf,
    flow,
    replication: options.replication,
  });
  return {
    handle,
    rejected(request, { status }) {
      if (auditor) auditRejected(auditor, request, status);
    },
    transport: (user) =>
      createDirectTransport({
        deps,
        user,
        handle,
        freeze: options.freeze ?? false,
        lists,
        turns,
        auditor,
        track: (change) => {
          undelivered += change;
        },
      }),
    ...clusterApi(deps),
    isManagedElsewhere: work.programs.isHeld,
    onManagedElsewhere: work.programs.onHeld,
    tokens: deps.tokens,
    writes,
    isQuiet: () => options.cache.isQuiet() && work.isQuiet() && undelivered === 0,
    drain() {
      health.draining = true;
    },
    async close() {
      health.draining = true;
      stopping.abort(new Error("the API server is stopping"));
      await work.close();
      for (const part of [nodes, roles, configured, conversions, flow, aggregation, clusters]) part.close();
    },
  };
}

/** What is stored, and the logical clusters that it is in. */
function createStored({ cache, clock, random, log, profiles, storeQuotaBytes }: ApiServerOptions) {
  const layers = new Map(Object.entries(profiles).map(([name, profile]) => [name, createProfileLayer(name, profile)]));
  const knownKinds = Object.values(profiles).flatMap(({ customs }) => customs);
  const writes = createWriteCounter();
  const quota = createStoreQuota(cache, storeQuotaBytes);
  const store = createObjectStore(cache, writes, quota);
  const clusters = createClusterRegistry({ cache, clock, random, log, profiles: layers, knownKinds });
  return { cache, clock, writes, quota, store, clusters };
}
type Stored = ReturnType<typeof createStored>;

function createTokens(
  { serviceAccounts, administrators, externalTokens }: ApiServerOptions,
  { store, clock, clusters }: Stored,
  onSecretTokenUsed: Parameters<typeof createAccountTokens>[0]["onSecretTokenUsed"],
): Pick<OperationDependencies, "accountTokens" | "tokens"> {
  const accountTokens = createAccountTokens({ store, clock, ...serviceAccounts, onSecretTokenUsed });
  const accounts = { tokens: accountTokens, bootstrap: createBootstrapTokens({ store, clock }), clusters };
  return {
    accountTokens,
    tokens: createBearerTokens({ accounts, administrators, external: externalTokens, nowMs: () => clock.now() }),
  };
}

/** What users configure with objects: admission, conversion webhooks, aggregated servers and nodes. */
function createConfigurable(
  { random, log, isExposed = false, frontProxy, kubeletAuthority, addressAnnotation }: ApiServerOptions,
  stored: Stored,
) {
  const common = { ...stored, random, log, addressAnnotation, blockedAddresses: blockedAddresses({ isExposed }) };
  const conversions = createConversions(common);
  return {
    conversions,
    configured: createConfiguredAdmission({ ...common, conversions }),
    aggregation: createAggregation({
      ...common,
      identityOf: frontProxy && ((cluster: LogicalCluster) => frontProxy(frontProxyName(clusterId(cluster)))),
    }),
    kubeletsOf: createKubelets({ ...common, isExposed, identity: frontProxy, ca: kubeletAuthority }),
  };
}

function builtInSteps({ controllerGroup }: ApiServerOptions, clusters: Stored["clusters"]): readonly AnyStep[] {
  return createBuiltInSteps({
    restrictedGroups: [MASTERS_GROUP, ...(controllerGroup === undefined ? [] : [controllerGroup])],
    arePodsTemplates: (cluster) => clusters.get(cluster)?.profile.podsAreTemplates === true,
  });
}

/** Drops what the parts hold of a removed cluster. What a later cluster of the same name has is kept. */
function forgetRemoved(clusters: Stored["clusters"], parts: readonly { forget(cluster: string): void }[]): void {
  clusters.subscribe(({ type, cluster: { name } }) => {
    if (type !== "gone" || clusters.get(name)) return;
    for (const part of parts) part.forget(name);
  });
}

/** The methods of a server about its logical clusters. */
function clusterApi({
  clusters,
  store,
  accountTokens,
}: Pick<OperationDependencies, "accountTokens"> & Pick<Stored, "clusters" | "store">): Pick<
  ApiServer,
  | "addCluster"
  | "removeCluster"
  | "clusters"
  | "profileOf"
  | "isOwnToken"
  | "issueSecretToken"
  | "clusterId"
  | "isCluster"
  | "onClusterGone"
  | "read"
  | "serves"
  | "onServed"
> {
  return {
    addCluster: (name, profile) => clusters.add(name, profile),
    removeCluster: (name) => clusters.remove(name),
    clusters: () => clusters.all().map(({ name }) => name),
    profileOf: (name) => clusters.get(name)?.profile.name,
    async isOwnToken(name, token) {
      const cluster = clusters.get(name);
      return cluster !== undefined && accountTokens.isIssued(cluster, token);
    },
    async issueSecretToken(clusterName, namespace, account, secret) {
      const cluster = clusters.get(clusterName);
      if (!cluster)
        throw new FlotillaError("Cluster", `cannot issue a token in cluster ${clusterName}: the cluster was removed`);
      return accountTokens.issueForSecret(cluster, namespace, account, secret);
    },
    clusterId: (name) => clusterId(findCluster({ clusters }, name)),
    isCluster(name, id) {
      const cluster = clusters.get(name);
      return cluster !== undefined && clusterId(cluster) === id;
    },
    read: (name) => createClusterReader(store, findCluster({ clusters }, name)),
    onClusterGone: (listener) =>
      clusters.subscribe(({ type, cluster }) => {
        if (type === "gone") listener(cluster.name, clusterId(cluster));
      }),
    serves: (cluster, group, resource) => clusters.get(cluster)?.table.resource(group, resource) !== undefined,
    onServed(listener) {
      for (const { name } of clusters.all()) listener(name);
      return clusters.subscribe(({ type, cluster }) => {
        if (type === "added" || type === "table") listener(cluster.name);
      });
    },
  };
}
