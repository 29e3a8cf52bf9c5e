/** The hub's metrics for Prometheus: connects `monitoring` with the components that provide the values. */
import { Cluster } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { ApiServer, Cache } from "@flotilla/apiserver";
import type { MetricsText } from "@flotilla/base";
import { createWorkloadMetrics } from "@flotilla/flotilla";
import type { HubViews, LaneFigures, Membership, Monitoring, WorkloadMetrics } from "@flotilla/flotilla";
import { writeControllerMetrics } from "@flotilla/controller-runtime";
import type { Informers, Manager } from "@flotilla/controller-runtime";
import type { Part } from "./parts.ts";

export interface HubMetricsOptions {
  hub: string;
  monitoring: Monitoring;
  writeInterpreterMetrics(text: MetricsText): void;
  /** Emits every template change. */
  templates: Pick<HubViews["templates"], "source">;
  membership: Pick<Membership, "informersOf">;
  server: Pick<ApiServer, "serves">;
  cache: Pick<Cache, "bytes" | "count" | "revision">;
  /** Size of the store on disk. */
  storeBytes?(): number;
  storeQuotaBytes?: number;
  /** Informers of the hub. */
  informers: Informers;
  /** Informers of the simulated members. */
  memberInformers: Informers;
  isSimulated(cluster: string): boolean;
  managers(): readonly Manager[];
  lanes(): readonly LaneFigures[];
}

export interface HubMetrics extends Part {
  write(text: MetricsText): void;
  workloads: WorkloadMetrics;
  /** Starts collecting. */
  start(signal: AbortSignal): void;
}

export function createHubMetrics({
  hub,
  monitoring,
  writeInterpreterMetrics,
  templates,
  membership,
  server,
  cache,
  storeBytes,
  storeQuotaBytes,
  informers,
  memberInformers,
  isSimulated,
  managers,
  lanes,
}: HubMetricsOptions): HubMetrics {
  const clusters = informers.of(Cluster);

  /** An external member reports which kinds it serves. */
  function serves(cluster: string, { group, kind, plural }: Kind): boolean {
    if (isSimulated(cluster)) return server.serves(cluster, group, plural);
    const enablements = clusters.get({ cluster: hub, name: cluster })?.status?.apiEnablements ?? [];
    return enablements.some(
      ({ groupVersion, resources }) =>
        (group === "" ? groupVersion === "v1" : groupVersion.startsWith(`${group}/`)) &&
        (resources ?? []).some((resource) => resource.kind === kind),
    );
  }

  return {
    write(text) {
      writeControllerMetrics(text, managers());
      writeInterpreterMetrics(text);
      monitoring.write(text);
    },
    workloads: createWorkloadMetrics({
      members: () => clusters.list({ cluster: hub }).map(({ metadata }) => metadata.name),
      // Simulated members are known here even while they are disconnected.
      informersOf: (cluster) => (isSimulated(cluster) ? memberInformers : membership.informersOf(cluster)),
      serves,
    }),
    start(signal) {
      const store: Parameters<Monitoring["follow"]>[0]["store"] = () => ({
        entries: cache.count("/"),
        revision: cache.revision,
        bytes: storeBytes ? storeBytes() : undefined,
        valueBytes: cache.bytes,
        quotaBytes: storeQuotaBytes || undefined,
      });
      monitoring.follow(
        {
          templates,
          managers,
          lanes,
          store,
          informersOf: membership.informersOf,
          serves,
        },
        signal,
      );
    },
  };
}
