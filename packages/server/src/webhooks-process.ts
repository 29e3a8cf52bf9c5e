/**
 * `flotilla webhooks`: answers for an API server of Kubernetes that keeps the objects of a hub. Admission webhooks have our
 * rules, conversion webhooks convert kinds with two versions, and an aggregated API serves what definitions cannot: the
 * proxy of Clusters, explanations and decisions.
 *
 * It keeps no state but its certificate, so any number of processes may run.
 */
import {
  answerConversion,
  createAdmissionElsewhere,
  createAuthenticator,
  createCache,
  createApiServer,
  createHttpServer,
  createMemoryEngine,
  createReviewAnswers,
  HEALTH_PATHS,
} from "@flotilla/apiserver";
import type { ApiRequest, ApiResponse, ApiServer, FrontProxySettings } from "@flotilla/apiserver";
import { ApiError, badRequest, createProtobufCodec, HUB, pathNotFound, unavailable } from "@flotilla/apimachinery";
import { every, MetricsText, systemClock, systemRandom, writeProcessMetrics } from "@flotilla/base";
import type { JsonObject, Log } from "@flotilla/base";
import type { Roles } from "@flotilla/cli";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { createEventRecorders, createInformers } from "@flotilla/controller-runtime";
import { AGGREGATED_GROUPS, FLOTILLA_GROUP, installedKinds, installedSteps, WEBHOOK_PATHS } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { ConfigMap, kubernetesKinds } from "@flotilla/kubernetes";
import { serveMetrics } from "./agent/agent-metrics.ts";
import { createDecisionLog } from "./audit/decision-log.ts";
import { createAccessReviews } from "./elsewhere/access-reviews.ts";
import type { AccessReviews } from "./elsewhere/access-reviews.ts";
import { createAskHub, forwardClusters } from "./elsewhere/forward.ts";
import { createHubReading } from "./elsewhere/hub-reading.ts";
import { directClusters } from "./elsewhere/stored-clusters.ts";
import { createWebhookCertificates, isForNextRound } from "./elsewhere/webhook-certificates.ts";
import type { WebhookCertificates } from "./elsewhere/webhook-certificates.ts";
import { inCluster, NOT_IN_POD } from "./process/in-cluster.ts";
import { reportConnection } from "./process/hub-connection.ts";
import { listen } from "./process/port.ts";
import { createStderrLog } from "./process/stderr-log.ts";
import { createHubReaders } from "./roles/hub-readers.ts";
import type { HubReaders } from "./roles/hub-readers.ts";
import { startParts, stopParts } from "./roles/process-parts.ts";
import type { Part } from "./roles/process-parts.ts";
import { createProfiles } from "./roles/profiles.ts";
import { CLUSTER_ORGANIZATION_PREFIX } from "./roles/server-names.ts";

const environment = { clock: systemClock, random: systemRandom };

/** An upgrade, or a person, may have removed what this process published. */
const PUBLISH_INTERVAL_MS = 10_000;
const CERTIFICATE_INTERVAL_MS = 60 * 60 * 1000;
/** An AdmissionReview has the object before and after, a ConversionReview a list of objects. */
const MAX_REVIEW_BYTES = 32 * 1024 * 1024;
const REVIEW_PATHS: ReadonlySet<string> = new Set(Object.values(WEBHOOK_PATHS));

export const startWebhooks: Roles["webhooks"] = async (options, progress, signal) => {
  const log = createStderrLog(options.logLevel, options.logFormat);
  const connection = await connectionOf(
    options.kubeconfig === undefined ? inCluster(NOT_IN_POD) : await loadKubeconfig(options.kubeconfig),
  );
  const server = connection.server.href.replace(/\/+$/, "");
  const network = createHttp2Transport({
    ...connection,
    cluster: { root: HUB },
    userAgent: "flotilla-webhooks",
    ...environment,
  });
  progress("contacting the API server");
  const hub = reportConnection(network, { log, server, signal });
  const transport = await directClusters(hub.transport, signal);
  const client = createClient({ transport, fieldManager: "flotilla-webhooks" });
  const proxies = await readFrontProxies(client, signal);
  if (!proxies)
    log.warn("the API server does not authenticate itself to aggregated servers: Clusters have no proxy", { server });

  const { parts, handle, whenRead } = await createAnswers(options, { client, transport, log: hub.log });
  const certificates = createWebhookCertificates({
    client,
    namespace: options.namespace,
    hosts: options.tlsSans,
    makesApiServices: options.makesApiServices && proxies !== undefined,
    clock: systemClock,
    log,
  });
  progress("reading the certificate");
  let certificate = await certificates.ensure(signal);
  const http = createHttpServer({
    handle,
    authenticator: createAuthenticator({
      clusterPrefix: CLUSTER_ORGANIZATION_PREFIX,
      anonymous: new Set([...REVIEW_PATHS, ...HEALTH_PATHS]),
    }),
    tls: certificate.serving,
    proxies,
    openBodyBytes: (path) => (REVIEW_PATHS.has(path) ? MAX_REVIEW_BYTES : undefined),
    log,
  });
  const port = await listen(http, options.port, options.bindAddress);
  const publishing = keepPublished(certificates, () => certificate.authorities, log);
  const renewing = every(systemClock, CERTIFICATE_INTERVAL_MS, () => {
    certificates.ensure(signal).then(
      (found) => {
        if (found.serving.certificate === certificate.serving.certificate) return;
        certificate = found;
        http.setTls(found.serving);
        publishing.now();
      },
      (error: unknown) => log.error("the certificate was not renewed; it is tried again in an hour", { error }),
    );
  });
  publishing.now();

  let isRead = false;
  const metrics =
    options.metricsAddress === undefined
      ? undefined
      : await serveMetrics(options.metricsAddress, renderMetrics, log, {
          problems: () => (isRead ? [] : ["the hub has not been read yet"]),
        });
  progress("reading the hub");
  const ready = startParts(parts, signal)
    .then(() => whenRead(signal))
    .then(() => publishing.finished())
    .then(() => void (isRead = true));
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const ended = (async () => {
    try {
      await Promise.race([stopped, ready.then(() => stopped)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      publishing.stop();
      renewing.cancel();
      await metrics?.close();
      await http.close();
      await stopParts(parts);
      await network.close();
    }
  })();
  return { server, port, isAggregated: proxies !== undefined, ready, ended };
};

type Options = Parameters<Roles["webhooks"]>[0];
type Handle = (request: ApiRequest) => Promise<ApiResponse>;

/** Everything that answers, and the parts that it reads the hub with. */
async function createAnswers(
  options: Options,
  { client, transport, log }: { client: Client; transport: Transport; log: Log },
): Promise<{ parts: readonly Part[]; handle: Handle; whenRead(signal: AbortSignal): Promise<void> }> {
  const { clock, random } = environment;
  const informers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
  const events = createEventRecorders({ client, clock, log });
  const steps = installedSteps({ ...options, clock });
  const reading = createHubReading({ steps, client, informers, clock, log });
  const access = createAccessReviews(client, clock);
  const kinds = new Map(installedKinds(options.projects).map((kind) => [`${kind.group}/${kind.kind}`, kind]));
  const known = new Map([...kubernetesKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind] as const), ...kinds]);
  const controllers = new Set(options.controllerUsers);
  const reviews = createReviewAnswers({
    admission: createAdmissionElsewhere({
      steps,
      authorizer: access.authorizer,
      read: reading.reader,
      ...environment,
    }),
    kindOf: (group, kind) => known.get(`${group}/${kind}`),
    isController: ({ name, groups }) => controllers.has(name) || groups.includes(FLOTILLA_GROUP),
    shownVersion: (group, version) =>
      group === Cluster.group && !Object.hasOwn(Cluster.versions, version) ? Cluster.storageVersion : version,
  });
  const readers = createHubReaders({
    hub: HUB,
    client,
    informers,
    events: events.recorders,
    clock,
    random,
    log,
  });
  const api = await createAggregatedApi({ readers, transport, access, log });
  let isRead = false;

  const answers: Readonly<Record<string, (body: unknown) => JsonObject | Promise<JsonObject>>> = {
    [WEBHOOK_PATHS.mutate]: reviews.mutate,
    [WEBHOOK_PATHS.validate]: reviews.validate,
    [WEBHOOK_PATHS.convert]: (body) => answerConversion(body, (group, kind) => kinds.get(`${group}/${kind}`)),
  };
  const handle: Handle = async (request) => {
    const answer = answers[request.path];
    try {
      if (answer) {
        // A rule that has not read the hub yet would allow what it must reject. Conversion reads nothing.
        if (!isRead && request.path !== WEBHOOK_PATHS.convert) throw unavailable("the hub is being read");
        return jsonResponse(200, await answer(bodyIn(request)));
      }
      if (isForwarded(request.path)) return await forwardClusters(transport, request);
      if (isServed(request.path)) return await api.server.handle(request);
      throw pathNotFound();
    } catch (error) {
      if (error instanceof ApiError) return jsonResponse(error.status.code, error.status as unknown as JsonObject);
      log.error("a request failed", { error, path: request.path });
      return jsonResponse(500, { message: "internal error; see the log of 'flotilla webhooks'" });
    }
  };
  return {
    handle,
    parts: [{ stop: () => informers.close() }, events, { stop: reading.stop, start: reading.start }, readers, api],
    async whenRead(signal) {
      await informers.whenSynced(signal);
      isRead = true;
    },
  };
}

/** An API server that stores nothing: what it serves is computed. */
async function createAggregatedApi({
  readers,
  transport,
  access,
  log,
}: {
  readers: HubReaders;
  transport: Transport;
  access: AccessReviews;
  log: Log;
}): Promise<{ server: ApiServer; stop(): Promise<void> }> {
  const { clock, random } = environment;
  const cache = await createCache(createMemoryEngine(), {
    onError: (error) => log.error("the memory of the aggregated API failed", { error }),
  });
  const decisions = createDecisionLog({ clock, log });
  const { clusterProxy, explanation } = readers.extensions(createAskHub(transport));
  const { hub } = createProfiles({
    rootCertificate: "",
    startedOn: "2000-01-01",
    clusterProxy,
    explanation,
    decisions: decisions.source,
  });
  const server = await createApiServer({
    cache,
    clock,
    random,
    log,
    admissions: [],
    controllerGroup: FLOTILLA_GROUP,
    protobuf: createProtobufCodec(kubernetesKinds),
    actions: [decisions.action],
    // The API server has authorized a request before it sends it here; what an answer is about is asked in addition.
    authorization: { authorizers: [access] },
    profiles: { hub: { ...hub, customs: [] } },
  });
  await server.addCluster(HUB, "hub");
  return {
    server,
    async stop() {
      await server.close();
      await decisions.close();
      await cache.close();
    },
  };
}

const prefixes = AGGREGATED_GROUPS.map(({ group, version }) => `/apis/${group}/${version}`);
const CLUSTERS = `/apis/${Cluster.group}/${Cluster.storageVersion}/${Cluster.plural}`;

/** Clusters are stored by the API server itself; only their proxy is here. */
function isForwarded(path: string): boolean {
  if (path !== CLUSTERS && !path.startsWith(`${CLUSTERS}/`)) return false;
  const [, subresource] = path.slice(CLUSTERS.length + 1).split("/");
  return subresource !== "proxy";
}

/** The API of the groups, and what describes it. */
const isServed = (path: string): boolean =>
  prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)) ||
  path === "/apis" ||
  path === "/version" ||
  AGGREGATED_GROUPS.some(({ group }) => path === `/apis/${group}`) ||
  path.startsWith("/openapi/") ||
  HEALTH_PATHS.has(path);

function bodyIn({ method, body }: ApiRequest): unknown {
  if (method !== "POST") throw badRequest("reviews are sent with POST");
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`the body is not JSON: ${error.message}`);
    throw error;
  }
}

const jsonResponse = (status: number, body: JsonObject): ApiResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(body)),
});

/** How the API server authenticates itself and the users that it names; undefined if it does not. */
async function readFrontProxies(client: Client, signal: AbortSignal): Promise<FrontProxySettings | undefined> {
  const key = { cluster: HUB, namespace: "kube-system", name: "extension-apiserver-authentication" };
  const { data = {} } = (await find(client, ConfigMap, key, { signal })) ?? {};
  const clientCa = data["requestheader-client-ca-file"];
  if (!clientCa) return undefined;
  const list = (name: string): string[] => {
    const found: unknown = JSON.parse(data[`requestheader-${name}`] ?? "[]");
    return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
  };
  return {
    clientCa,
    allowedNames: list("allowed-names"),
    usernameHeaders: list("username-headers"),
    uidHeaders: list("uid-headers"),
    groupHeaders: list("group-headers"),
    extraPrefixes: list("extra-headers-prefix"),
    // The API server of the cluster has authenticated them.
    reservedGroups: [],
  };
}

interface Publishing {
  now(): void;
  /** Resolves when what was asked for is published. */
  finished(): Promise<void>;
  stop(): void;
}

/** Publishes the authorities now and then, one round after the other. */
function keepPublished(certificates: WebhookCertificates, authorities: () => string, log: Log): Publishing {
  const stopping = new AbortController();
  let round: Promise<void> = Promise.resolve();
  const now = (): void => {
    round = round.then(async () => {
      try {
        const changed = await certificates.publish(authorities(), stopping.signal);
        if (changed > 0) log.info("the API server trusts the certificate", { changed });
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isForNextRound(error)) log.debug("the certificate was not published, retrying", { error });
        else log.warn("the certificate was not published, retrying", { error });
      }
    });
  };
  const timer = every(systemClock, PUBLISH_INTERVAL_MS, now);
  return {
    now,
    finished: () => round,
    stop() {
      timer.cancel();
      stopping.abort();
    },
  };
}

function renderMetrics(): string {
  const text = new MetricsText();
  writeProcessMetrics(text);
  return text.finish();
}
