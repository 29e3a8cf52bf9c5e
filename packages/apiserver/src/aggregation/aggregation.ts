/**
 * Aggregation: the APIServices of every logical cluster. Those with a Service are answered by the server behind it
 * (docs/adr/0041). A cluster without such APIServices costs a request one lookup in a map.
 */
import { APIService, availabilityOf } from "@flotilla/kubernetes";
import { createSemaphore, equalJson, isObject } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Log, MetricsText, Semaphore, Timer } from "@flotilla/base";
import { followConfigurations, readConfigured } from "../clusters/cluster-configurations.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { clusterOfKey } from "../resources/resources.ts";
import type { Cache, CacheEvent } from "../store/cache.ts";
import { AggregationMetrics } from "./aggregation-metrics.ts";
import { aboveLimit, askServer, conditionAfter, MAX_VERSIONS, serviceProblem } from "./availability.ts";
import type { Verdict } from "./availability.ts";
import { createRemoteService } from "./remote-service.ts";
import type { RemoteDependencies, RemoteService } from "./remote-service.ts";

const PREFIX = `/${APIService.group}/${APIService.plural}/`;
/** What a check reads. */
const SERVICE_PREFIXES = ["/core/services/", "/core/endpoints/", "/discovery.k8s.io/endpointslices/"];
const CHECK_EVERY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
/** Several objects of a Service change together. */
const SETTLE_MS = 100;
/** Servers of one cluster that are asked at the same time; each may answer with megabytes. */
const MAX_CHECKS = 4;

export interface Aggregation {
  /** The other server that answers for a version of a group; undefined when this server does. */
  find(cluster: string, group: string, version: string): RemoteService | undefined;
  /** All versions that other servers answer for; the same array until one of them changes. */
  remotes(cluster: string): readonly RemoteService[];
  /** Starts checking. `write` stores the condition of an APIService; `onChecked` is called after each check of a server. */
  start(write: WriteCondition, onChecked?: (cluster: string) => void): void;
  observe(event: CacheEvent): void;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

/** Changes the status of the APIService at a key. */
type WriteCondition = (key: string, change: (object: JsonObject) => JsonObject) => Promise<void>;

export interface AggregationDependencies extends RemoteDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
  clock: Clock;
  log: Log;
}

class ClusterServices {
  services: readonly RemoteService[];
  readonly #byVersion: ReadonlyMap<string, RemoteService>;

  constructor(services: readonly RemoteService[]) {
    this.services = services;
    this.#byVersion = new Map(services.map((service) => [`${service.group}/${service.version}`, service]));
  }

  find(group: string, version: string): RemoteService | undefined {
    return this.#byVersion.get(`${group}/${version}`);
  }

  /** Documents that were made of the list are made again. */
  changed(): void {
    this.services = [...this.services];
  }
}

const NONE: readonly RemoteService[] = [];

/** The oldest first, so that a new object does not displace another. */
const byAge = ({ metadata: a }: DeepReadonly<APIService>, { metadata: b }: DeepReadonly<APIService>): number =>
  (a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name);

export function createAggregation(deps: AggregationDependencies): Aggregation {
  const { cache, clusters, clock, log, store } = deps;
  const stopped = new AbortController();
  const metrics = new Map<string, AggregationMetrics>();
  const timers = new Map<RemoteService, Timer>();
  const retries = new WeakMap<RemoteService, number>();
  /** Each cluster has its own: servers that do not answer delay only the checks of their cluster. */
  const checks = new Map<string, Semaphore>();
  let write: WriteCondition | undefined;
  let notifyChecked: ((cluster: string) => void) | undefined;

  const checksOf = (cluster: string): Semaphore => {
    let known = checks.get(cluster);
    if (!known) checks.set(cluster, (known = createSemaphore(MAX_CHECKS)));
    return known;
  };
  const metricsOf = ({ name }: LogicalCluster): AggregationMetrics => {
    let known = metrics.get(name);
    if (!known) metrics.set(name, (known = new AggregationMetrics()));
    return known;
  };

  const configured = followConfigurations<ClusterServices>({
    cache,
    clusters,
    group: APIService.group,
    plurals: [APIService.plural],
    load(cluster, former) {
      const services = cluster ? read(cluster, former?.services ?? NONE) : [];
      for (const service of former?.services ?? NONE) if (!services.includes(service)) drop(service);
      if (services.length === 0) return undefined;
      const isSame =
        former?.services.length === services.length && services.every((each, at) => each === former.services[at]);
      return isSame ? former : new ClusterServices(services);
    },
  });

  /** Services that did not change keep their connections and what is known of them. */
  function read(cluster: LogicalCluster, former: readonly RemoteService[]): RemoteService[] {
    const objects = readConfigured(cache, cluster, APIService).filter(({ spec }) => spec?.service !== undefined);
    const used = new Set([...objects].sort(byAge).slice(0, MAX_VERSIONS));
    const formerByName = new Map(former.map((service) => [service.name, service]));
    return objects.map((object) => {
      const isUsed = used.has(object);
      const known = formerByName.get(object.metadata.name);
      if (known?.cluster === cluster && known.isUsed === isUsed && equalJson(known.spec, object.spec)) return known;
      const created = createRemoteService(cluster, object, deps, isUsed);
      // Requests are not sent to it before the first check either.
      if (!isUsed) created.condition = conditionAfter(created.condition, aboveLimit(), clock.now());
      schedule(created, 0);
      return created;
    });
  }

  function drop(service: RemoteService): void {
    timers.get(service)?.cancel();
    timers.delete(service);
    metrics.get(service.cluster.name)?.forget(service.name);
    service.close();
  }

  /** A check that is due earlier stays. */
  function schedule(service: RemoteService, afterMs: number): void {
    if (!write || stopped.signal.aborted) return;
    timers.get(service)?.cancel();
    timers.set(
      service,
      clock.after(afterMs, () => {
        timers.delete(service);
        void check(service).catch((error: unknown) => {
          if (!stopped.signal.aborted)
            log.warn("an APIService cannot be checked", { cluster: service.cluster.name, name: service.name, error });
        });
      }),
    );
  }

  /** Undefined when the service was removed while it waited. */
  async function askInTurn(service: RemoteService): Promise<Verdict | undefined> {
    const { signal } = stopped;
    const end = await checksOf(service.cluster.name).acquire(1, "", signal);
    try {
      return isCurrent(service) ? await askServer(service, { clock, signal }) : undefined;
    } finally {
      end();
    }
  }

  const isCurrent = (service: RemoteService): boolean =>
    configured.get(service.cluster.name)?.services.includes(service) === true;

  async function check(service: RemoteService): Promise<void> {
    const { cluster } = service;
    const before = { condition: service.condition, discovered: service.discovered, openApiUrl: service.openApiUrl };
    const read = createClusterReader(store, cluster);
    const verdict = service.isUsed
      ? (serviceProblem(read, service, deps.addressAnnotation) ?? (await askInTurn(service)))
      : aboveLimit();
    if (!verdict || stopped.signal.aborted || !isCurrent(service)) return;
    const condition = conditionAfter(before.condition, verdict, clock.now());
    service.condition = condition;
    const isUp = condition.status === "True";
    metricsOf(cluster).checked(service.name, isUp, isUp ? "" : (condition.reason ?? ""));
    const retry = isUp ? 0 : (retries.get(service) ?? 0) + 1;
    retries.set(service, retry);
    schedule(service, isUp ? CHECK_EVERY_MS : Math.min(FIRST_RETRY_MS * 2 ** (retry - 1), CHECK_EVERY_MS));
    const isOther =
      condition !== before.condition ||
      service.openApiUrl !== before.openApiUrl ||
      !equalJson(service.discovered ?? null, before.discovered ?? null);
    if (isOther) configured.get(cluster.name)?.changed();
    if (condition.status !== before.condition?.status)
      log.info("the availability of an APIService changed", {
        cluster: cluster.name,
        name: service.name,
        available: condition.status,
        reason: condition.reason,
        message: condition.message,
      });
    await write?.(`${PREFIX}${cluster.name}/${service.name}`, (object) => withVerdict(object, verdict, clock.now()));
    if (isUp) notifyChecked?.(cluster.name);
  }

  return {
    find: (cluster, group, version) => configured.get(cluster)?.find(group, version),
    remotes: (cluster) => configured.get(cluster)?.services ?? NONE,
    start(given, onChecked) {
      write = given;
      notifyChecked = onChecked;
      for (const { services } of configured.all()) for (const service of services) schedule(service, 0);
    },
    observe({ entry, previous }) {
      const { key } = entry ?? previous ?? { key: "" };
      if (!SERVICE_PREFIXES.some((prefix) => key.startsWith(prefix))) return;
      for (const service of configured.get(clusterOfKey(key))?.services ?? NONE) {
        const { namespace = "", name = "" } = service.spec.service ?? {};
        const [, , , , at = "", object = ""] = key.split("/");
        // EndpointSlices have the name of their Service and a suffix.
        if (at === namespace && (object === name || object.startsWith(`${name}-`))) schedule(service, SETTLE_MS);
      }
    },
    writeMetrics: (cluster, text) => (metrics.get(cluster) ?? new AggregationMetrics()).write(text),
    forget(cluster) {
      metrics.delete(cluster);
      checks.delete(cluster);
    },
    close() {
      stopped.abort(new Error("the server is stopping"));
      for (const { services } of configured.all()) for (const service of services) drop(service);
      configured.close();
    },
  };
}

/**
 * The object with the verdict as its condition; the same object when it says the same already. The stored condition decides, not
 * what this server found before: several servers check the same APIService.
 */
export function withVerdict(object: JsonObject, verdict: Verdict, nowMs: number): JsonObject {
  const stored = availabilityOf(object as unknown as DeepReadonly<APIService>);
  const condition = conditionAfter(stored, verdict, nowMs);
  if (condition === stored) return object;
  const status = isObject(object.status) ? object.status : {};
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).filter(
    (other) => !isObject(other) || other.type !== condition.type,
  );
  return { ...object, status: { ...status, conditions: [...conditions, condition] } };
}
