/**
 * The role `apiserver`: the hub's API server with its store, its logical clusters and the controllers that every
 * cluster has. It knows nothing of the controllers of the hub and of the members: what those add to its API is passed to
 * `extend`.
 */
import { createKindAdmissions } from "./kind-admissions.ts";
import { createProtobufCodec, HUB, unavailable } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { createKruiseAdmissions } from "@flotilla/openkruise";
import { createApiServer, createCache, logicalClusterAdmission, StoreError } from "@flotilla/apiserver";
import type { ApiServer, ApiServerOptions, Auditor, Cache, Engine, ExternalTokens } from "@flotilla/apiserver";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import {
  agentCertificateLifetime,
  agentRegistration,
  apiServiceReferences,
  rolloutAdmissions,
  createDeletionProtection,
  federatedQuotaEnforcement,
  missingMetricsWarning,
  quotaWarnings,
  taintPolicyWarning,
  rivalScalersWarning,
  createMembershipAdmissions,
  webhookReferences,
  FLOTILLA_GROUP,
  flotillaUser,
  interpreterAdmissions,
  policyWarnings,
  templateRequests,
} from "@flotilla/flotilla";
import { joinedClusters } from "./joined-clusters.ts";
import { createEventRecorders, createInformers, createManager } from "@flotilla/controller-runtime";
import type { EventRecorders, Manager } from "@flotilla/controller-runtime";
import { createSystemControllers, kubernetesKinds } from "@flotilla/kubernetes";
import { createDecisionLog } from "../audit/decision-log.ts";
import type { Fingerprints } from "../keys/hub-keys.ts";
import { decodeKeyRecord, KEY_RECORD } from "../keys/key-record.ts";
import { FOREIGN_PROGRAMS, KRUISE_MANAGER } from "./foreign-programs.ts";
import type { HubExtensions } from "./hub-extensions.ts";
import type { Part } from "./process-parts.ts";
import { createProfiles, isSimulatedProfile } from "./profiles.ts";
import type { FrontProxyAuthorities, ProfileOptions } from "./profiles.ts";
import { ADDRESS_ANNOTATION } from "./server-names.ts";
import type { FeatureGates } from "@flotilla/openkruise";

export interface HubApiServerOptions {
  engine: Engine;
  clock: Clock;
  random: Random;
  log: Log;
  /** Feature gates of OpenKruise; unset means its defaults. */
  kruiseGates?: FeatureGates;
  /** Whether Flotilla's OpenKruise runs in a cluster, and so admits its objects. */
  runsKruise(cluster: string): boolean;
  /** Whether ClusterTaintPolicies may set taints that evict. */
  allowNoExecuteTaintPolicy?: boolean;
  /** Nodes of each member that this server hosts; with 0 nothing runs there. */
  nodes: number;
  /** PEM; published in every namespace so that workloads can verify this server. */
  rootCertificate?: string;
  /** PEM of the key that signs service account tokens; unset generates one for the lifetime of the process. */
  signingKey?: () => Promise<string>;
  /** What other API servers of a shared store must know of the keys of this one; unset where there are none. */
  keyFingerprints?(): Promise<Fingerprints>;
  /** Signs certificate requests; unset leaves them to other signers. */
  authority?: Pick<CertificateAuthority, "signRequest">;
  /** How this server calls aggregated servers; unset leaves them without users. */
  frontProxy?: FrontProxy;
  /** PEM: the authorities of kubelets' certificates; unset accepts any. */
  kubeletAuthority?: ApiServerOptions["kubeletAuthority"];
  /** Whether clients of other machines connect; then logical clusters may not name addresses of this one. */
  isExposed?: boolean | undefined;
  /** A kubeconfig for an administrator of one logical cluster, served as the subresource of that name. */
  clusterKubeconfig?(cluster: string, lifetimeMs: number): string;
  /** The port of this server, which is known once it listens. */
  port?(): number;
  /** Wraps the transport of every part, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  /** Tokens of administrators; unset: none. */
  administrators?: ApiServerOptions["administrators"];
  /** Tokens that others issue. */
  externalTokens?: ExternalTokens | undefined;
  /** Who decides what users may do; unset: roles. */
  authorization?: ApiServerOptions["authorization"];
  writeIdentityMetrics?: ApiServerOptions["writeIdentityMetrics"];
  /** For standby hubs; unset: there can be none. */
  replication?: ApiServerOptions["replication"];
  /** The audit log; unset audits nothing. */
  auditor?: Auditor | undefined;
  /** The file that keeps the decisions of controllers; unset keeps them in memory. */
  decisionsFile?: string | undefined;
  /** Whether the store takes writes; unset means that it does. */
  takesWrites?(): boolean;
  /** The size of all objects above which none may be created or grow; unset or 0 means no limit. */
  storeQuotaBytes?: number;
  /** Called when the store failed; everything that needs it fails from then on. */
  onFailure?(error: Error): void;
  /** Freezes what readers share, so that a test fails where a reader changes it. */
  freeze?: boolean;
}

export interface FrontProxy extends FrontProxyAuthorities {
  /** The certificate with a common name, signed by `ca`. */
  identity: NonNullable<ApiServerOptions["frontProxy"]>;
}

export interface HubApiServer extends Part {
  server: ApiServer;
  cache: Cache;
  /** A client in this process with the identity of one part of Flotilla. */
  connect(part: string, fieldManager: string): Client;
  /** Runs the controllers that every logical cluster has. */
  manager: Manager;
  /**
   * Adds what other parts answer. They are created with clients of this server, so it is called after the server exists
   * and before it takes requests.
   */
  extend(extensions: HubExtensions): void;
  start(signal: AbortSignal): void;
  /** Also closes the store. */
  stop(): Promise<void>;
}

export async function createHubApiServer(options: HubApiServerOptions): Promise<HubApiServer> {
  const { engine, clock, random, log, auditor } = options;
  const { wrap = (transport) => transport } = options;
  let extensions: HubExtensions = {};
  const cache = await createCache(engine, {
    onError(error) {
      log.error("store failed", { error });
      if (error instanceof StoreError) options.onFailure?.(error);
    },
  });
  const decisions = createDecisionLog({
    path: options.decisionsFile,
    clock,
    log,
    onDecision: auditor && ((line) => auditor.write(line)),
  });
  await decisions.load();
  const profiles = createHubProfiles(options, decisions.source, () => extensions);
  const server = await createApiServer({
    cache,
    clock,
    random,
    log,
    controllerGroup: FLOTILLA_GROUP,
    foreignPrograms: FOREIGN_PROGRAMS,
    admissions: createHubAdmissions(options, Object.keys(profiles), {
      eventsOf: (component) => events.recorders(component),
      hasOtherKruise: (cluster) => cluster !== HUB && server.isManagedElsewhere(cluster, KRUISE_MANAGER),
    }),
    frontProxy: options.frontProxy?.identity,
    kubeletAuthority: options.kubeletAuthority,
    addressAnnotation: ADDRESS_ANNOTATION,
    isExposed: options.isExposed,
    protobuf: createProtobufCodec(kubernetesKinds),
    actions: [decisions.action],
    auditor,
    administrators: options.administrators,
    externalTokens: options.externalTokens,
    authorization: options.authorization,
    writeIdentityMetrics: options.writeIdentityMetrics,
    profiles,
    serviceAccounts: options.signingKey ? { signingKey: options.signingKey } : undefined,
    freeze: options.freeze ?? false,
    takesWrites: options.takesWrites,
    replication: options.replication,
    storeQuotaBytes: options.storeQuotaBytes,
    ...extensionPoints(() => extensions),
  });
  await server.addCluster(HUB, "hub");

  const connect = (part: string, fieldManager: string): Client =>
    createClient({ transport: wrap(server.transport(flotillaUser(part)), part), fieldManager });
  const events = createEventRecorders({ client: connect("events", "flotilla-events"), clock, log });

  const fingerprints = engine.isShared ? await options.keyFingerprints?.() : undefined;
  const isPublishedElsewhere = (): boolean => {
    const record = fingerprints && cache.get(KEY_RECORD);
    return record !== undefined && !equalJson(decodeKeyRecord(record.value), fingerprints);
  };
  const system = createSystemManager(options, server, connect, isPublishedElsewhere);
  return {
    server,
    cache,
    connect,
    manager: system.manager,
    extend: (added) => void (extensions = added),
    start: system.manager.start,
    async stop() {
      await system.stop();
      await events.stop();
      await server.close();
      await decisions.close();
      await cache.close();
      await engine.close();
    },
  };
}

/** The kinds and objects of the logical clusters; some kinds are answered by what other parts add. */
function createHubProfiles(
  options: HubApiServerOptions,
  decisions: ProfileOptions["decisions"],
  extensions: () => HubExtensions,
): ReturnType<typeof createProfiles> {
  const { clock, nodes, rootCertificate = "", frontProxy, clusterKubeconfig, port } = options;
  return createProfiles({
    decisions,
    rootCertificate,
    frontProxy,
    startedOn: formatTime(clock.now()).slice(0, "2024-05-01".length),
    nodes,
    nowMs: clock.now(),
    metrics: nodes > 0 ? () => present(extensions().podMetrics, "metrics") : undefined,
    clusterKubeconfig,
    port,
    clusterProxy: (...request) => present(extensions().clusterProxy, "proxy")(...request),
    fleetMetrics: () => present(extensions().fleetMetrics, "metrics"),
    explanation: (...binding) => present(extensions().explanation, "explanation")(...binding),
  });
}

/** In the order in which they run. */
function createHubAdmissions(
  { clock, kruiseGates, allowNoExecuteTaintPolicy = false, runsKruise }: HubApiServerOptions,
  profiles: readonly string[],
  { eventsOf, hasOtherKruise }: { eventsOf: EventRecorders; hasOtherKruise(cluster: string): boolean },
): ApiServerOptions["admissions"] {
  return [
    ...createKindAdmissions({
      kruiseGates,
      taintPolicies: { allowNoExecute: allowNoExecuteTaintPolicy },
      hasOtherKruise,
    }),
    ...createMembershipAdmissions({ hub: HUB, clock }),
    joinedClusters,
    policyWarnings,
    templateRequests,
    createDeletionProtection(HUB),
    federatedQuotaEnforcement(HUB),
    missingMetricsWarning,
    quotaWarnings,
    taintPolicyWarning,
    rivalScalersWarning,
    ...interpreterAdmissions,
    webhookReferences(HUB),
    apiServiceReferences(HUB),
    ...rolloutAdmissions(HUB),
    ...createKruiseAdmissions({
      gates: kruiseGates,
      appliesTo: runsKruise,
      nowMs: () => clock.now(),
      recordEvent: (component, cluster, pod, event) => eventsOf(component).record(cluster, pod, event),
    }),
    logicalClusterAdmission(profiles.filter((name) => name !== "hub")),
  ];
}

/** What the server asks other parts for. They are added after it was created. */
function extensionPoints(
  extensions: () => HubExtensions,
): Pick<ApiServerOptions, "controllers" | "workloads" | "connect"> {
  return {
    controllers: {
      writeMetrics: (text) => extensions().controllers?.writeMetrics(text),
      problems: () => extensions().controllers?.problems() ?? [],
    },
    workloads: {
      write: (text, cluster) => extensions().workloads?.write(text, cluster),
      page(only) {
        const { workloads } = extensions();
        if (workloads) return workloads.page(only);
        throw unavailable(
          "the controllers of this hub run in another process; scrape /metrics/members there: 'flotilla controllers --metrics-address HOST:PORT' serves it",
        );
      },
    },
    connect: { runtimeOf: (cluster) => extensions().runtimeOf?.(cluster) },
  };
}

/** The controllers that every logical cluster has. */
function createSystemManager(
  options: HubApiServerOptions,
  server: ApiServer,
  connect: HubApiServer["connect"],
  isPublishedElsewhere: () => boolean,
): { manager: Manager; stop(): Promise<void> } {
  const { clock, random, log, authority, rootCertificate = "", nodes } = options;
  // Their writes carry the field manager of Kubernetes' own controllers.
  const client = connect("system-controllers", "kube-controller-manager");
  const informers = createInformers({ client, clock, random, log, scope: { cluster: "*" } });
  const manager = createManager({ client, informers, clock, log: log.with({ component: "system" }) });
  manager.add(
    ...createSystemControllers({
      client,
      informers,
      clock,
      log,
      home: HUB,
      rootCertificate,
      issueSecretToken: server.issueSecretToken,
      isOwnToken: server.isOwnToken,
      isManagedElsewhere: server.isManagedElsewhere,
      isPublishedElsewhere,
      runsVolumes: (cluster) => nodes > 0 && isSimulatedProfile(server.profileOf(cluster)),
      signRequest: authority
        ? (cluster, request, terms) =>
            authority.signRequest(request, {
              ...terms,
              cluster: server.clusterId(cluster),
              registration: cluster === HUB ? agentRegistration(request.commonName, server.read(HUB)) : undefined,
            })
        : undefined,
      certificateLifetime: (cluster, request) => (cluster === HUB ? agentCertificateLifetime(request) : undefined),
    }),
  );
  return {
    manager,
    async stop() {
      await manager.stop();
      informers.close();
    },
  };
}

/** Requests arrive after every role was created, so what an extension point offers is there by then. */
function present<T>(extension: T | undefined, name: string): T {
  if (extension === undefined) throw unavailable(`no controllers run in this process that serve ${name}`);
  return extension;
}
