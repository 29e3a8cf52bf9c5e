/** Calls the conversion webhooks of CRDs: objects in, the same objects in another version out. */
import { ApiError } from "@flotilla/apimachinery";
import { createSemaphore, randomUuid } from "@flotilla/base";
import type { Clock, Json, JsonObject, Log, MetricsText, Random } from "@flotilla/base";
import { createWebhookConnection, createWebhookLocator, MAX_CALLS_IN_FLIGHT, WebhookError } from "@flotilla/client";
import type { BlockedSet, WebhookConnection } from "@flotilla/client";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import { serviceAddress } from "../clusters/service-address.ts";
import { plainError } from "../request/context.ts";
import type { Resource, ServedVersion } from "../resources/resources.ts";
import { ConversionMetrics } from "./conversion-metrics.ts";
import {
  acceptConverted,
  InvalidConversion,
  readConversionReview,
  renderConversionReview,
  reviewVersionOf,
  shownKind,
} from "./conversion-review.ts";

/** As for the longest admission webhooks. */
const TIMEOUT_MS = 30_000;
/** More calls than this do not wait for one webhook: it would never catch up. */
const MAX_WAITING = 1_024;

export interface ConversionDependencies {
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  random: Random;
  log: Log;
  blockedAddresses?: BlockedAddresses | undefined;
  /** See `ApiServerOptions`. */
  addressAnnotation?: string | undefined;
}

/** The webhook of a CRD in one cluster. */
interface Hook {
  readonly connection: () => WebhookConnection;
  readonly turns: ReturnType<typeof createSemaphore>;
  close(): void;
}

interface ClusterHooks {
  readonly hooks: Map<Resource, Hook>;
  readonly metrics: ConversionMetrics;
}

export interface ConversionWebhooks {
  /** The objects in a version, in order, each with the metadata that it had, or the error for it. Throws 500. */
  convert(
    cluster: LogicalCluster,
    objects: readonly JsonObject[],
    to: ServedVersion,
  ): Promise<(JsonObject | ApiError)[]>;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

export function createConversionWebhooks(deps: ConversionDependencies): ConversionWebhooks {
  const { store, clusters, clock, random, log } = deps;
  const byCluster = new Map<string, ClusterHooks>();
  const stopped = new AbortController();

  const hooksOf = (cluster: LogicalCluster): ClusterHooks => {
    const known = byCluster.get(cluster.name);
    if (known) return known;
    const created: ClusterHooks = { hooks: new Map(), metrics: new ConversionMetrics() };
    // A request may end after its cluster was removed; nothing would forget these.
    if (clusters.get(cluster.name)) byCluster.set(cluster.name, created);
    return created;
  };
  const hookOf = ({ hooks }: ClusterHooks, cluster: string, resource: Resource): Hook => {
    let hook = hooks.get(resource);
    if (!hook) hooks.set(resource, (hook = createHook(resource, deps.blockedAddresses?.(cluster))));
    return hook;
  };
  const drop = (cluster: string, isKept: (resource: Resource) => boolean): void => {
    const known = byCluster.get(cluster);
    for (const [resource, hook] of known?.hooks ?? []) {
      if (isKept(resource)) continue;
      hook.close();
      known?.hooks.delete(resource);
      known?.metrics.forget(nameOf(resource));
    }
  };
  const unsubscribe = clusters.subscribe(({ type, cluster }) => {
    if (type === "table")
      drop(
        cluster.name,
        (resource) => cluster.table.resource(resource.name.group, resource.name.resource) === resource,
      );
  });

  async function convert(
    cluster: LogicalCluster,
    objects: readonly JsonObject[],
    to: ServedVersion,
  ): Promise<(JsonObject | ApiError)[]> {
    const { resource } = to;
    const own = hooksOf(cluster);
    const [first = {}] = objects;
    const crd = nameOf(resource);
    const startedMs = clock.now();
    const measured = (failure: Parameters<ConversionMetrics["called"]>[4]): void =>
      own.metrics.called(crd, versionOf(first.apiVersion), to.version, (clock.now() - startedMs) / 1000, failure);
    let answered: readonly Json[];
    try {
      answered = await call(cluster, hookOf(own, cluster.name, resource), objects, to);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      measured("conversion_call_failure");
      // Logged when a webhook begins to fail, not for each request.
      if (own.metrics.failuresOf(crd) === 1)
        log.warn("a conversion webhook cannot be called", { cluster: cluster.name, crd, error: error.message });
      throw plainError(`conversion webhook for ${shownKind(first)} failed: ${error.message}`, { cause: error });
    }
    const invalid = (problem: string): ApiError => plainError(`conversion webhook for ${shownKind(first)} ${problem}`);
    if (answered.length !== objects.length) {
      measured("conversion_webhook_invalid_converted_object");
      throw invalid(`returned ${answered.length} objects, expected ${objects.length}`);
    }
    const accepted = objects.map((object, index) => {
      try {
        return acceptConverted(object, answered[index], to.apiVersion);
      } catch (error) {
        if (!(error instanceof InvalidConversion)) throw error;
        return invalid(error.message);
      }
    });
    const isValid = accepted.every((each) => !(each instanceof ApiError));
    measured(isValid ? "" : "conversion_webhook_invalid_converted_object");
    return accepted;
  }

  async function call(
    cluster: LogicalCluster,
    { turns, connection }: Hook,
    objects: readonly JsonObject[],
    { resource: { conversion }, apiVersion }: ServedVersion,
  ): Promise<readonly Json[]> {
    const version = reviewVersionOf(conversion?.reviewVersions ?? []);
    if (!conversion || !version) throw new WebhookError("configuration", "no supported conversion review versions");
    if (turns.waiting >= MAX_WAITING)
      throw new WebhookError("overload", `${MAX_WAITING} calls are already waiting for it`);
    const read = createClusterReader(store, cluster);
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () =>
      timeout.abort(new WebhookError("timeout", `no response within ${TIMEOUT_MS / 1000} s`)),
    );
    const stop = AbortSignal.any([timeout.signal, stopped.signal, cluster.removed]);
    const uid = randomUuid(random);
    try {
      const endpoint = createWebhookLocator(conversion.clientConfig, (service) =>
        serviceAddress(read, service, deps.addressAnnotation),
      )();
      const release = await turns.acquire(1, "", stop);
      try {
        const body = renderConversionReview(version, uid, apiVersion, objects);
        return readConversionReview(await connection().post(endpoint, "?timeout=30s", body, stop), version, uid);
      } finally {
        release();
      }
    } finally {
      timer.cancel();
    }
  }

  const webhooks: ConversionWebhooks = {
    convert,
    writeMetrics: (cluster, text) => (byCluster.get(cluster)?.metrics ?? new ConversionMetrics()).write(text),
    forget(cluster) {
      drop(cluster, () => false);
      byCluster.delete(cluster);
    },
    close() {
      stopped.abort(new WebhookError("connection", "the server is stopping"));
      unsubscribe();
      for (const cluster of byCluster.keys()) webhooks.forget(cluster);
    },
  };
  return webhooks;
}

const nameOf = ({ name }: Resource): string => `${name.resource}.${name.group}`;
const versionOf = (apiVersion: Json | undefined): string =>
  typeof apiVersion === "string" ? apiVersion.slice(apiVersion.indexOf("/") + 1) : "";

function createHook({ conversion }: Resource, blocked: BlockedSet | undefined): Hook {
  let made: WebhookConnection | undefined;
  return {
    connection: () => (made ??= createWebhookConnection(conversion?.clientConfig.caBundle || undefined, blocked)),
    turns: createSemaphore(MAX_CALLS_IN_FLIGHT),
    close: () => made?.close(),
  };
}
