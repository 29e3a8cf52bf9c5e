import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import { MetricsText } from "@flotilla/base";
import { writeFleetGauges } from "./fleet-gauges.ts";
import { writeLanes, writeStore } from "./state-gauges.ts";
import { createWorkloadMetrics } from "./workload-metrics.ts";

const samplesOf = (write: (text: MetricsText) => void): string[] => {
  const text = new MetricsText();
  write(text);
  return text
    .finish()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
};

test("a member's lanes for Works and ManifestWorks are summed", () => {
  const lanes = [
    { cluster: "paris", active: 1, waiting: 4, failures: 2 },
    { cluster: "paris", active: 2, waiting: 0, failures: 5 },
  ];

  expect(samplesOf((text) => writeLanes(text, lanes))).toEqual([
    'flotilla_member_lane_active{member_cluster="paris"} 3',
    'flotilla_member_lane_waiting{member_cluster="paris"} 4',
    'flotilla_member_backoff_failures{member_cluster="paris"} 5',
  ]);
});

test("an in-memory store has no size", () => {
  expect(samplesOf((text) => writeStore(text, { entries: 3, revision: 9, valueBytes: 7 }))).toEqual([
    "flotilla_store_entries 3",
    "flotilla_store_value_bytes 7",
    "flotilla_store_revision 9",
  ]);
  const figures = { entries: 3, revision: 9, bytes: 100, valueBytes: 7, quotaBytes: 50 };
  expect(samplesOf((text) => writeStore(text, figures))).toEqual([
    'apiserver_storage_size_bytes{storage_cluster_id="flotilla"} 100',
    "flotilla_store_entries 3",
    "flotilla_store_value_bytes 7",
    "flotilla_store_quota_bytes 50",
    "flotilla_store_revision 9",
  ]);
});

test("a value missing from a Cluster has no sample, and quantities are converted to numbers", () => {
  const status = {
    conditions: [{ type: "Ready", status: "True" }],
    nodeSummary: { totalNum: 2 },
    resourceSummary: { allocatable: { cpu: "1500m", memory: "2Gi" } },
  };
  const clusters = [
    { metadata: { name: "paris" }, spec: { syncMode: "Push", taints: [{ key: "a", effect: "NoExecute" }] }, status },
    { metadata: { name: "oslo" }, spec: { syncMode: "Push" } },
  ] as unknown as Cluster[];
  const managed = [
    {
      metadata: { name: "paris" },
      spec: { hubAcceptsClient: true },
      status: { conditions: [{ type: "ManagedClusterConditionAvailable", status: "Unknown" }] },
    },
  ] as unknown as ManagedCluster[];

  expect(samplesOf((text) => writeFleetGauges(text, clusters, managed))).toEqual([
    'cluster_ready_state{member_cluster="paris"} 1',
    'cluster_ready_state{member_cluster="oslo"} 0',
    'cluster_node_number{member_cluster="paris"} 2',
    'cluster_ready_node_number{member_cluster="paris"} 0',
    'cluster_memory_allocatable_bytes{member_cluster="paris"} 2147483648',
    'cluster_cpu_allocatable_number{member_cluster="paris"} 1.5',
    'cluster_pod_allocatable_number{member_cluster="paris"} 0',
    'flotilla_managed_cluster_available{member_cluster="paris"} 0',
    'flotilla_managed_cluster_accepted{member_cluster="paris"} 1',
    'flotilla_cluster_taints{member_cluster="paris",effect="NoExecute"} 1',
  ]);
});

test("the members page is bounded and reports how many objects it omits", () => {
  const objects = Array.from({ length: 6_000 }, (_, index) => ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: `web-${index}`, namespace: 'a"b' },
  }));
  const informers = { of: () => ({ list: () => objects }) };
  const { page } = createWorkloadMetrics({
    members: () => ["paris"],
    informersOf: () => informers as never,
    serves: (_, kind) => kind === CloneSet,
  });

  const lines = page().split("\n");

  expect(lines.filter((line) => line.startsWith("kruise_cloneset_spec_replicas{")).length).toBe(5_000);
  expect(lines).toContain('kruise_cloneset_spec_replicas{member_cluster="paris",namespace="a\\"b",cloneset="web-0"} 1');
  expect(lines).toContain("flotilla_members_page_left_out 1000");
});
