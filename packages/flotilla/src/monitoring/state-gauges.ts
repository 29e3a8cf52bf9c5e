/**
 * Values computed on scrape: scheduler queues, busy and unreachable members, the store, versions, and OpenKruise on the
 * members.
 */
import { Pod } from "@flotilla/kubernetes";
import { gauge, writeGauge } from "@flotilla/base";
import type { DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import type { LaneFigures } from "../delivery/member-lanes.ts";
import { isConditionTrue } from "@flotilla/apimachinery";
import type { ControllerMetrics, Informers } from "@flotilla/controller-runtime";
import { EVICTION_NAMES } from "./controller-meter.ts";

const PENDING = gauge(
  "scheduler_pending_bindings",
  "Bindings in the scheduling queues: active are ready, backoff wait for their retry, unschedulable have no suitable cluster.",
  "queue",
);
const EVICTION_DEPTH = gauge("eviction_queue_depth", "Evictions waiting to be processed.", "name");
const BUILD = gauge("flotilla_build_info", "1; the labels describe the build.", "version", "node_version", "platform");
const KARMADA_BUILD = gauge(
  "karmada_build_info",
  "1; the labels describe the build, as far as they apply to a Node program.",
  "git_version",
  "git_commit",
  "git_short_commit",
  "git_tree_state",
  "build_date",
  "go_version",
  "compiler",
  "platform",
);
export const buildMetrics: readonly Metric[] = [BUILD, KARMADA_BUILD];

const ACTIVE = gauge(
  "flotilla_member_lane_active",
  "Works being delivered to a member; members without any are omitted.",
  "member_cluster",
);
const WAITING = gauge(
  "flotilla_member_lane_waiting",
  "Works waiting for their turn at a member, or for the member to become reachable.",
  "member_cluster",
);
const BACK_OFF = gauge(
  "flotilla_member_backoff_failures",
  "Consecutive deliveries that a member did not answer; the retry backoff grows with each, up to a minute.",
  "member_cluster",
);
export const laneMetrics: readonly Metric[] = [ACTIVE, WAITING, BACK_OFF];

const STORE_SIZE = gauge(
  "apiserver_storage_size_bytes",
  "Size of the store on disk; no sample for an in-memory store.",
  "storage_cluster_id",
);
const STORE_ENTRIES = gauge("flotilla_store_entries", "Objects in the store, across all logical clusters.");
const STORE_VALUES = gauge("flotilla_store_value_bytes", "Size of all objects in the store, which are in memory.");
const STORE_QUOTA = gauge(
  "flotilla_store_quota_bytes",
  "Size of all objects above which none may be created or grow; no sample without a quota.",
);
const STORE_REVISION = gauge(
  "flotilla_store_revision",
  "The revision of the latest write; its rate is the write rate.",
);
const MANAGER_PODS = gauge(
  "flotilla_kruise_manager_pods",
  "Pods of the OpenKruise manager on a member that serves OpenKruise kinds.",
  "member_cluster",
);
const MANAGER_READY = gauge(
  "flotilla_kruise_manager_ready_pods",
  "Ready pods of the OpenKruise manager on a member that serves OpenKruise kinds.",
  "member_cluster",
);

export const stateMetrics: readonly Metric[] = [
  PENDING,
  EVICTION_DEPTH,
  ...buildMetrics,
  ...laneMetrics,
  STORE_SIZE,
  STORE_ENTRIES,
  STORE_VALUES,
  STORE_QUOTA,
  STORE_REVISION,
  MANAGER_PODS,
  MANAGER_READY,
];

export interface StoreFigures {
  entries: number;
  revision: number;
  /** Undefined for an in-memory store. */
  bytes?: number;
  /** The size of all current objects. */
  valueBytes: number;
  /** Undefined without a quota. */
  quotaBytes?: number;
}

export function writeBuild(text: MetricsText, version: string): void {
  const platform = `${process.platform}/${process.arch}`;
  writeGauge(text, BUILD, [[[version, process.version, platform], 1]]);
  writeGauge(text, KARMADA_BUILD, [[[`v${version}`, "", "", "", "", process.version, "node", platform], 1]]);
}

/** A member has one lane for Works and one for ManifestWorks. */
export function writeLanes(text: MetricsText, lanes: readonly LaneFigures[]): void {
  const clusters = new Map<string, Omit<LaneFigures, "cluster">>();
  for (const { cluster, active, waiting, failures } of lanes) {
    const other = clusters.get(cluster);
    clusters.set(cluster, {
      active: active + (other?.active ?? 0),
      waiting: waiting + (other?.waiting ?? 0),
      failures: Math.max(failures, other?.failures ?? 0),
    });
  }
  const each = (metric: Metric, valueOf: (figures: Omit<LaneFigures, "cluster">) => number): void =>
    writeGauge(
      text,
      metric,
      Array.from(clusters, ([cluster, figures]) => [[cluster], valueOf(figures)] as const),
    );
  each(ACTIVE, ({ active }) => active);
  each(WAITING, ({ waiting }) => waiting);
  each(BACK_OFF, ({ failures }) => failures);
}

export function writeQueues(
  text: MetricsText,
  controllers: ReadonlyMap<string, ControllerMetrics>,
  unschedulable: number,
): void {
  const sum = (valueOf: (metrics: ControllerMetrics) => number): number =>
    ["schedule", "schedule-cluster-bindings"].reduce(
      (total, name) => total + (controllers.has(name) ? valueOf(controllers.get(name) as ControllerMetrics) : 0),
      0,
    );
  writeGauge(text, PENDING, [
    [["active"], sum(({ queueLength }) => queueLength)],
    [["backoff"], sum(({ delayed }) => delayed)],
    [["unschedulable"], unschedulable],
  ]);
  writeGauge(
    text,
    EVICTION_DEPTH,
    Array.from(
      EVICTION_NAMES,
      ([controller, name]) => [[name], controllers.get(controller)?.queueLength ?? 0] as const,
    ),
  );
}

export function writeStore(text: MetricsText, figures: StoreFigures): void {
  const { entries, revision, bytes, valueBytes, quotaBytes } = figures;
  writeGauge(text, STORE_SIZE, bytes === undefined ? [] : [[["flotilla"], bytes]]);
  writeGauge(text, STORE_ENTRIES, [[[], entries]]);
  writeGauge(text, STORE_VALUES, [[[], valueBytes]]);
  writeGauge(text, STORE_QUOTA, quotaBytes === undefined ? [] : [[[], quotaBytes]]);
  writeGauge(text, STORE_REVISION, [[[], revision]]);
}

/** The namespace of the OpenKruise manager, as its chart installs it. */
const KRUISE_NAMESPACE = "kruise-system";
const MANAGER = "kruise-controller-manager";

export function writeKruiseManagers(
  text: MetricsText,
  members: readonly { cluster: string; informers: Informers }[],
): void {
  const found = members.map(({ cluster, informers }) => {
    const pods = informers
      .of(Pod)
      .list({ cluster, namespace: KRUISE_NAMESPACE })
      .filter(({ metadata }) => metadata.name.startsWith(`${MANAGER}-`));
    return { cluster, pods: pods.length, ready: pods.filter(isReady).length };
  });
  writeGauge(
    text,
    MANAGER_PODS,
    found.map(({ cluster, pods }) => [[cluster], pods] as const),
  );
  writeGauge(
    text,
    MANAGER_READY,
    found.map(({ cluster, ready }) => [[cluster], ready] as const),
  );
}

const isReady = ({ status }: DeepReadonly<Pod>): boolean => isConditionTrue(status?.conditions, "Ready");
