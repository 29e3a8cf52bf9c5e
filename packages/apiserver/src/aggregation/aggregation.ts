/**
 * Aggregation: the APIServices of every logical cluster. Those with a Service are answered by the server behind it
 * (docs/adr/0041). A cluster without such APIServices costs a request one lookup in a map.
 */
import { APIService } from "@flotilla/kubernetes";
import { equalJson, isObject } from "@flotilla/base";
import type { Clock, JsonObject, Log, MetricsText, Timer } from "@flotilla/base";
import { followConfigurations, readConfigured } from "../clusters/cluster-configurations.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ClusterRegistry, LogicalCluster } from "../clusters/clusters.ts";
import { clusterOfKey } from "../resources/resources.ts";
import type { Cache, CacheEvent } from "../store/cache.ts";
import { AggregationMetrics } from "./aggregation-metrics.ts";
import { askServer, conditionAfter, serviceProblem } from "./availability.ts";
import { createRemoteService } from "./remote-service.ts";
import type { RemoteDependencies, RemoteService } from "./remote-service.ts";

const PREFIX = `/${APIService.group}/${APIService.plural}/`;
/** What a check reads. */
const SERVICE_PREFIXES = ["/core/services/", "/core/endpoints/", "/discovery.k8s.io/endpointslices/"];
const CHECK_EVERY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
/** Several objects of a Service change together. */
const SETTLE_MS = 100;

export interface Aggregation {
  /** The other server that answers for a version of a group; undefined when this server does. */
  find(cluster: string, group: string, version: string): RemoteService | undefined;
  /** All versions that other servers answer for; the same array until one of them changes. */
  remotes(cluster: string): readonly RemoteService[];
  /** Starts checking. `write` stores the condition of an APIService. */
  start(write: WriteCondition): void;
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

export function createAggregation(deps: AggregationDependencies): Aggregation {
  const { cache, clusters, clock, log, store } = deps;
  const stopped = new AbortController();
  const metrics = new Map<string, AggregationMetrics>();
  const timers = new Map<RemoteService, Timer>();
  const retries = new WeakMap<RemoteService, number>();
  let write: WriteCondition | undefined;

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
    return readConfigured(cache, cluster, APIService)
      .filter(({ spec }) => spec?.service !== undefined)
      .map((object) => {
        const known = former.find(
          (candidate) =>
            candidate.name === object.metadata.name &&
            candidate.cluster === cluster &&
            equalJson(candidate.spec, object.spec),
        );
        if (known) return known;
        const created = createRemoteService(cluster, object, deps);
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
        void check(service).catch((error: unknown) =>
          log.warn("an APIService cannot be checked", { cluster: service.cluster.name, name: service.name, error }),
        );
      }),
    );
  }

  const isCurrent = (service: RemoteService): boolean =>
    configured.get(service.cluster.name)?.services.includes(service) === true;

  async function check(service: RemoteService): Promise<void> {
    const { cluster } = service;
    const before = { condition: service.condition, discovered: service.discovered, openApiUrl: service.openApiUrl };
    const read = createClusterReader(store, cluster);
    const verdict = serviceProblem(read, service) ?? (await askServer(service, { clock, signal: stopped.signal }));
    if (stopped.signal.aborted || !isCurrent(service)) return;
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
    await write?.(`${PREFIX}${cluster.name}/${service.name}`, (object) => withCondition(object, condition));
  }

  return {
    find: (cluster, group, version) => configured.get(cluster)?.find(group, version),
    remotes: (cluster) => configured.get(cluster)?.services ?? NONE,
    start(given) {
      write = given;
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
    forget: (cluster) => void metrics.delete(cluster),
    close() {
      stopped.abort(new Error("the server is stopping"));
      for (const { services } of configured.all()) for (const service of services) drop(service);
      configured.close();
    },
  };
}

/** The same object when it already has the condition. */
function withCondition(object: JsonObject, condition: NonNullable<RemoteService["condition"]>): JsonObject {
  const status = isObject(object.status) ? object.status : {};
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).filter(
    (other) => !isObject(other) || other.type !== condition.type,
  );
  return { ...object, status: { ...status, conditions: [...conditions, condition] } };
}
