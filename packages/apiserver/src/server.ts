/**
 * The API server without a transport. It owns the logical clusters, their resources, and the server's background work
 * (garbage collection, emptying namespaces). The caller owns the store.
 */
import type { AnyStep, ApiError, ProtobufCodec } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Log, MetricsText, Random } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import type { Cache } from "./store/cache.ts";
import { createAccountTokens } from "./access/account-tokens.ts";
import { createBearerTokens } from "./access/bearer-tokens.ts";
import { createBootstrapTokens } from "./access/bootstrap-tokens.ts";
import type { BearerTokens } from "./access/bearer-tokens.ts";
import { createEscalationCheck } from "./access/escalation.ts";
import { markUsed } from "./background/last-used.ts";
import type { ExternalTokens } from "./access/external-tokens.ts";
import { createAuthorizerChain } from "./access/authorizer-chain.ts";
import type { ConfiguredAuthorizer } from "./access/authorizer-chain.ts";
import { createRbac } from "./access/rbac.ts";
import { MASTERS, memberOf } from "./request/authorize.ts";
import { createActions } from "./actions/action.ts";
import type { Action } from "./actions/action.ts";
import { builtInActions } from "./actions/index.ts";
import { createAdmissionChain } from "./admission/chain.ts";
import { createBuiltInSteps } from "./admission/index.ts";
import { createServiceAllocation } from "./services/allocation.ts";
import { createBackPressure } from "./watch/back-pressure.ts";
import { ListTurns } from "./watch/list-turns.ts";
import { createBackgroundWork } from "./background-work.ts";
import type { ForeignProgram } from "./clusters/controller-leases.ts";
import { createClusterRegistry } from "./clusters/clusters.ts";
import { clusterId } from "./clusters/layer.ts";
import type { LogicalCluster } from "./clusters/clusters.ts";
import type { ConnectBackend } from "./connect/backend.ts";
import { createAggregation } from "./aggregation/aggregation.ts";
import type { ClientIdentity } from "./aggregation/remote-service.ts";
import { frontProxyName } from "./aggregation/identity-headers.ts";
import { createConversions } from "./conversion/conversions.ts";
import { createConfiguredAdmission } from "./configured-admission/configured-admission.ts";
import { createDefinitionStatus } from "./crd/crd-status.ts";
import { writeDefinitionStatus } from "./write/definition-status.ts";
import { createDirectTransport } from "./serve/direct-transport.ts";
import { createFlowControl } from "./flowcontrol/flow-control.ts";
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
import type { ApiRequest, ApiResponse, UserInfo } from "./request/request.ts";
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
  /** Tokens that others issue: of identity providers, for example. */
  externalTokens?: ExternalTokens | undefined;
  /** Who decides what users may do, in order; unset: the roles of each cluster. */
  authorization?:
    | { readonly authorizers: readonly ConfiguredAuthorizer[]; writeMetrics?(text: MetricsText): void }
    | undefined;
  /** Group of the controllers that belong to this server (`IsController`); unset means that there are none. */
  controllerGroup?: string;
  /**
   * The certificate with a common name with which aggregated servers are called; it is signed by the CA that clusters
   * publish for them. Unset: aggregated servers cannot authenticate users.
   */
  frontProxy?(commonName: string): ClientIdentity;
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
  isManagedElsewhere(cluster: string, program?: ForeignProgram): boolean;
  /** Notifies the listener when a cluster starts to run such a program. */
  onManagedElsewhere(listener: (cluster: string, program: ForeignProgram) => void): () => void;
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
  const { cache, clock, random, log, admissions, controllerGroup, version = VERSION } = options;
  const profiles = new Map(
    Object.entries(options.profiles).map(([name, profile]) => [name, createProfileLayer(name, profile)]),
  );
  const knownKinds = Object.values(options.profiles).flatMap(({ customs }) => customs);
  const writes = createWriteCounter();
  const stopping = new AbortController();
  const lists = new ListTurns();
  const quota = createStoreQuota(cache, options.storeQuotaBytes);
  const store = createObjectStore(cache, writes, quota);
  const clusters = createClusterRegistry({ cache, clock, random, log, profiles, knownKinds });
  const roles = createRbac({ cache, clusters, store });
  const isController = controllerGroup === undefined ? () => false : memberOf(controllerGroup);
  const { authorization } = options;
  const authorizer = authorization ? createAuthorizerChain(roles, authorization.authorizers, isController) : roles;
  const accountTokens = createAccountTokens({
    store,
    clock,
    ...options.serviceAccounts,
    onSecretTokenUsed: (cluster, namespace, secret, day) =>
      markUsed(work.housekeeping, cluster, namespace, secret, day),
  });
  const tokens = createBearerTokens({
    accounts: { tokens: accountTokens, bootstrap: createBootstrapTokens({ store, clock }), clusters },
    external: options.externalTokens,
    nowMs: () => clock.now(),
  });
  const allocation = createServiceAllocation({ cache, random });
  const definitions = createDefinitionStatus({
    cache,
    store,
    clusters,
    clock,
    writeStatus: (cluster, name, change) => writeDefinitionStatus(deps, cluster, name, change, stopping.signal),
  });
  const blocked = blockedAddresses({ isExposed: options.isExposed ?? false });
  const conversions = createConversions({ store, clusters, clock, random, log, blockedAddresses: blocked });
  const configured = createConfiguredAdmission({
    cache,
    store,
    clusters,
    clock,
    random,
    log,
    conversions,
    blockedAddresses: blocked,
  });
  const { frontProxy } = options;
  const aggregation = createAggregation({
    cache,
    store,
    clusters,
    clock,
    log,
    blockedAddresses: blocked,
    identityOf: frontProxy ? (cluster: LogicalCluster) => frontProxy(frontProxyName(clusterId(cluster))) : undefined,
  });
  const deps: OperationDependencies = {
    cache,
    store,
    clusters,
    definitions,
    siblings: new Siblings(),
    configured,
    conversions,
    aggregation,
    chain: createAdmissionChain([
      ...admissions,
      ...createBuiltInSteps({
        restrictedGroups: [MASTERS, ...(controllerGroup === undefined ? [] : [controllerGroup])],
        arePodsTemplates: (cluster) => clusters.get(cluster)?.profile.podsAreTemplates === true,
      }),
      createEscalationCheck({ authorizer, clusters }),
      // Last, so that a Service that exceeds a quota takes no numbers.
      allocation.step,
    ]),
    actions: createActions([...builtInActions, ...(options.actions ?? [])]),
    pressure: createBackPressure({ clock }),
    clock,
    random,
    authorizer,
    isController,
    accountTokens,
    tokens,
  };
  const work = createBackgroundWork({ ...deps, log, allocation, signal: stopping.signal });
  const health = {
    draining: false,
    areControllersHealthy: () => (options.controllers?.problems().length ?? 0) === 0,
    takesWrites: () => options.takesWrites?.() ?? true,
    isStoreNearlyFull: quota.isNearlyFull,
  };
  const metrics = createServerMetrics((cluster) => clusters.get(cluster) !== undefined);
  const flow = createFlowControl({ cache, store, clusters, clock, serverSeats: options.maxSeats });
  let undelivered = 0;

  clusters.subscribe(({ type, cluster: { name } }) => {
    // Promises and counts of a later cluster of the same name must be kept.
    if (type !== "gone" || clusters.get(name)) return;
    allocation.forget(name);
    metrics.forget(name);
    writes.forget(name);
    configured.forget(name);
    flow.forget(name);
    conversions.forget(name);
    aggregation.forget(name);
  });
  work.start();
  await clusters.finishRemovals();
  await definitions.settleAll();

  const turns = createRequestTurns();
  const handle = createHandler({
    deps,
    turns,
    log,
    version,
    stopping: stopping.signal,
    health,
    metrics,
    auditor: options.auditor,
    writeAuthorizationMetrics: authorization?.writeMetrics,
    writeControllerMetrics: options.controllers ? options.controllers.writeMetrics : undefined,
    workloads: options.workloads,
    connect: options.connect,
    protobuf: options.protobuf,
    flow,
  });
  return {
    handle,
    rejected(request, { status }) {
      if (options.auditor) auditRejected(options.auditor, request, status);
    },
    transport: (user) =>
      createDirectTransport({
        deps,
        user,
        handle,
        freeze: options.freeze ?? false,
        lists,
        turns,
        auditor: options.auditor,
        track: (change) => {
          undelivered += change;
        },
      }),
    addCluster: (name, profile) => clusters.add(name, profile),
    removeCluster: (name) => clusters.remove(name),
    clusters: () => clusters.all().map(({ name }) => name),
    profileOf: (name) => clusters.get(name)?.profile.name,
    isManagedElsewhere: work.programs.isHeld,
    onManagedElsewhere: work.programs.onHeld,
    async isOwnToken(name, token) {
      const cluster = clusters.get(name);
      return cluster !== undefined && accountTokens.isIssued(cluster, token);
    },
    clusterId: (name) => clusterId(findCluster(deps, name)),
    isCluster(name, id) {
      const cluster = clusters.get(name);
      return cluster !== undefined && clusterId(cluster) === id;
    },
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
    tokens,
    async issueSecretToken(clusterName, namespace, account, secret) {
      const cluster = clusters.get(clusterName);
      if (!cluster)
        throw new FlotillaError("Cluster", `cannot issue a token in cluster ${clusterName}: the cluster was removed`);
      return accountTokens.issueForSecret(cluster, namespace, account, secret);
    },
    writes,
    isQuiet: () => cache.isQuiet() && work.isQuiet() && undelivered === 0,
    drain() {
      health.draining = true;
    },
    async close() {
      health.draining = true;
      stopping.abort(new Error("the API server is stopping"));
      await work.close();
      roles.close();
      configured.close();
      conversions.close();
      flow.close();
      aggregation.close();
      clusters.close();
    },
  };
}
