/** The hub's metrics for Prometheus: connects `monitoring` with the components that provide the values. */
import { Cluster } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { ApiServer } from "@flotilla/apiserver";
import type { MetricsText } from "@flotilla/base";
import { createWorkloadMetrics } from "@flotilla/flotilla";
import type {
  HubViews,
  Decisions,
  LaneFigures,
  Membership,
  Monitoring,
  StoreFigures,
  WorkloadMetrics,
} from "@flotilla/flotilla";
import { writeControllerMetrics } from "@flotilla/controller-runtime";
import type { Informers, Manager } from "@flotilla/controller-runtime";
import type { Part } from "./process-parts.ts";

export interface HubMetricsOptions {
  hub: string;
  monitoring: Monitoring;
  writeInterpreterMetrics(text: MetricsText): void;
  /** Emits every template change. */
  templates: Pick<HubViews["templates"], "source">;
  membership: Pick<Membership, "informersOf">;
  /** Of the store in this process, if there is one. */
  store?(): StoreFigures;
  /** Informers of the hub. */
  informers: Informers;
  /** The simulated members of this process, if there are any. */
  simulated?: {
    has(cluster: string): boolean;
    informers: Informers;
    serves: ApiServer["serves"];
  };
  decisions: Pick<Decisions, "write">;
  managers(): readonly Manager[];
  lanes(): readonly LaneFigures[];
}

export interface HubMetrics extends Part {
  write(text: MetricsText): void;
  workloads: WorkloadMetrics;
  /** Starts collecting. */
  start(signal: AbortSignal): void;
}

export function createHubMetrics(options: HubMetricsOptions): HubMetrics {
  const {
    hub,
    monitoring,
    writeInterpreterMetrics,
    templates,
    membership,
    store,
    informers,
    simulated,
    decisions,
    managers,
    lanes,
  } = options;
  const clusters = informers.of(Cluster);

  /** An external member reports which kinds it serves. */
  function serves(cluster: string, { group, kind, plural }: Kind): boolean {
    if (simulated?.has(cluster)) return simulated.serves(cluster, group, plural);
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
      decisions.write(text);
    },
    workloads: createWorkloadMetrics({
      members: () => clusters.list({ cluster: hub }).map(({ metadata }) => metadata.name),
      // Simulated members are known here even while they are disconnected.
      informersOf: (cluster) => (simulated?.has(cluster) ? simulated.informers : membership.informersOf(cluster)),
      serves,
    }),
    start(signal) {
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
