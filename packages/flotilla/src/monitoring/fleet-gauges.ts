/** Gauges of the members under Karmada's names, read from their Clusters on scrape, and of their ManagedClusters. */
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import { gauge, writeGauge } from "@flotilla/base";
import type { DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import { findCondition, isConditionTrue, tryParseQuantity } from "@flotilla/apimachinery";
import { numberOfQuantity } from "./quantity.ts";

type ClusterView = DeepReadonly<Cluster>;
type Resources = NonNullable<NonNullable<ClusterView["status"]>["resourceSummary"]>["allocatable"];

/** A Cluster without the value has no sample, instead of zero. */
interface ClusterGauge {
  metric: Metric;
  valueOf(cluster: ClusterView): number | undefined;
}

const of = (name: string, help: string, valueOf: ClusterGauge["valueOf"]): ClusterGauge => ({
  metric: gauge(name, help, "member_cluster"),
  valueOf,
});
const nodes = ({ status }: ClusterView): NonNullable<ClusterView["status"]>["nodeSummary"] => status?.nodeSummary;
const allocatable = ({ status }: ClusterView): Resources => status?.resourceSummary?.allocatable;
const allocated = ({ status }: ClusterView): Resources => status?.resourceSummary?.allocated;

/** A resource missing from the list counts as zero; without a list the amount is unknown. */
function amount(resources: Resources, name: string): number | undefined {
  if (!resources) return undefined;
  const quantity = tryParseQuantity(Object.hasOwn(resources, name) ? (resources[name] ?? "0") : "0");
  return quantity && numberOfQuantity(quantity);
}

const CLUSTERS: readonly ClusterGauge[] = [
  of("cluster_ready_state", "1 if the member is ready, 0 otherwise.", ({ status }) =>
    isConditionTrue(status?.conditions, "Ready") ? 1 : 0,
  ),
  of("cluster_node_number", "Nodes of the member.", (cluster) => nodes(cluster) && (nodes(cluster)?.totalNum ?? 0)),
  of(
    "cluster_ready_node_number",
    "Ready nodes of the member.",
    (cluster) => nodes(cluster) && (nodes(cluster)?.readyNum ?? 0),
  ),
  of("cluster_memory_allocatable_bytes", "Allocatable memory of the member.", (cluster) =>
    amount(allocatable(cluster), "memory"),
  ),
  of("cluster_cpu_allocatable_number", "Allocatable CPUs of the member.", (cluster) =>
    amount(allocatable(cluster), "cpu"),
  ),
  of("cluster_pod_allocatable_number", "Allocatable pods of the member.", (cluster) =>
    amount(allocatable(cluster), "pods"),
  ),
  of("cluster_memory_allocated_bytes", "Memory requested by pods of the member.", (cluster) =>
    amount(allocated(cluster), "memory"),
  ),
  of("cluster_cpu_allocated_number", "CPUs requested by pods of the member.", (cluster) =>
    amount(allocated(cluster), "cpu"),
  ),
  of("cluster_pod_allocated_number", "Pods of the member.", (cluster) => amount(allocated(cluster), "pods")),
];

const AVAILABLE = gauge(
  "flotilla_managed_cluster_available",
  "1 if the ManagedCluster of the member is available, 0 if it is not or its availability is unknown.",
  "member_cluster",
);
const ACCEPTED = gauge(
  "flotilla_managed_cluster_accepted",
  "1 if the hub has accepted the member, 0 while an administrator has to accept it.",
  "member_cluster",
);
const TAINTED = gauge(
  "flotilla_cluster_taints",
  "Taints of the member by effect; a tainted member is excluded from scheduling or its workloads are evicted.",
  "member_cluster",
  "effect",
);

export const fleetMetrics: readonly Metric[] = [...CLUSTERS.map(({ metric }) => metric), AVAILABLE, ACCEPTED, TAINTED];

export function writeFleetGauges(
  text: MetricsText,
  clusters: readonly ClusterView[],
  managed: readonly DeepReadonly<ManagedCluster>[],
): void {
  for (const { metric, valueOf } of CLUSTERS) {
    writeGauge(
      text,
      metric,
      clusters.flatMap((cluster) => {
        const value = valueOf(cluster);
        return value === undefined ? [] : [[[cluster.metadata.name], value] as const];
      }),
    );
  }
  writeGauge(
    text,
    AVAILABLE,
    managed.map(
      ({ metadata, status }) =>
        [
          [metadata.name],
          findCondition(status?.conditions, "ManagedClusterConditionAvailable")?.status === "True" ? 1 : 0,
        ] as const,
    ),
  );
  writeGauge(
    text,
    ACCEPTED,
    managed.map(({ metadata, spec }) => [[metadata.name], spec?.hubAcceptsClient ? 1 : 0] as const),
  );
  writeGauge(
    text,
    TAINTED,
    clusters.flatMap((cluster) =>
      [...countTaints(cluster)].map(([effect, count]) => [[cluster.metadata.name, effect], count] as const),
    ),
  );
}

function countTaints({ spec }: ClusterView): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { effect } of spec.taints ?? []) counts.set(effect, (counts.get(effect) ?? 0) + 1);
  return counts;
}
