/** The metrics of a fleet while it is active. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ClusterRole, ClusterRoleBinding, ConfigMap, ResourceQuota } from "@flotilla/kubernetes";
import { ManagedClusterSetBinding, ManifestWork, OcmPlacement } from "@flotilla/ocm";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { metricsPages } from "@flotilla/server";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { parseMetrics, valueOf } from "./scrape.ts";
import type { Scrape } from "./scrape.ts";

let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["paris", "oslo"], nodes: 2 });
});
afterEach(() => fleet.stop());

async function scrape(path = "/metrics", cluster = "hub"): Promise<Scrape> {
  const { status, body } = await fleet.client.raw({ cluster, method: "GET", path });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (status !== 200) throw new Error(text);
  return parseMetrics(text);
}

const cloneSet = (name: string, image = "web:1"): CloneSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image }] } },
  },
});
const policy = (name: string, selectors: PropagationPolicy["spec"]["resourceSelectors"]): PropagationPolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name, namespace: "default" },
  spec: {
    resourceSelectors: selectors,
    placement: {
      clusterAffinity: { clusterNames: ["paris", "oslo"] },
      replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
    },
  },
});
const placement: OcmPlacement = {
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "Placement",
  metadata: { name: "all", namespace: "default" },
  spec: {},
};
const work = (manifests: object[]): ManifestWork =>
  ({
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "settings", namespace: "paris" },
    spec: { workload: { manifests } },
  }) as unknown as ManifestWork;

async function propagate(): Promise<void> {
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy("web", [{ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }]),
  );
  await fleet.run(5_000);
  await fleet.client.create(CloneSet, "hub", cloneSet("web"));
  await fleet.client.create(ManagedClusterSetBinding, "hub", {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { name: "global", namespace: "default" },
    spec: { clusterSet: "global" },
  });
  await fleet.client.create(OcmPlacement, "hub", placement);
  await fleet.client.create(
    ManifestWork,
    "hub",
    work([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "default" } }]),
  );
  await fleet.run(60_000);
}

describe("the metrics pages", () => {
  test("have every metric that is declared for them, with its type and labels, and no other", async () => {
    await propagate();
    await fleet.client.create(ResourceQuota, "paris", {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "small", namespace: "default" },
      spec: { hard: { pods: "10" } },
    });
    await scrape("/metrics/members");
    await fleet.run(1_000);
    const pages = [await scrape(), await scrape("/metrics/members"), await scrape("/metrics", "paris")];

    for (const [index, { families, samples }] of pages.entries()) {
      const { metrics = [], title } = metricsPages[index] ?? { title: "" };
      const declared = new Map(metrics.map((metric) => [metric.name, metric]));
      // Families of kinds without objects are omitted from the members' pages.
      expect(
        [...families.keys()].filter((name) => !declared.has(name)),
        title,
      ).toEqual([]);
      expect(
        metrics.map(({ name }) => name).filter((name) => index === 0 && !families.has(name)),
        title,
      ).toEqual([]);
      for (const { name, type } of families.values()) expect(declared.get(name)?.type, name).toBe(type);
      for (const { name, labels } of samples) {
        const metric = declared.get(name) ?? declared.get(name.replace(/_(bucket|sum|count)$/, ""));
        expect(
          Object.keys(labels)
            .filter((label) => label !== "le" || !name.endsWith("_bucket"))
            .toSorted(),
          name,
        ).toEqual([...(metric?.labels ?? [])].toSorted());
      }
    }
    expect(pages.every(({ families }) => families.size > 0)).toBe(true);
  });

  test("report the latency of a change to every member and back, once for each, and not for later moves", async () => {
    await propagate();
    const counts = (page: Scrape): unknown[] =>
      ["applied", "reported"].flatMap((what) =>
        ["paris", "oslo"].map((cluster) =>
          valueOf(page, `flotilla_propagation_${what}_seconds_count`, { member_cluster: cluster }),
        ),
      );
    const first = await scrape();

    await fleet.client.patch(
      CloneSet,
      { cluster: "hub", namespace: "default", name: "web" },
      { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } },
      { type: "merge" },
    );
    await fleet.run(60_000);
    const second = await scrape();
    await fleet.client.delete(CloneSet, { cluster: "paris", namespace: "default", name: "web" });
    await fleet.run(60_000);

    expect(counts(first)).toEqual([1, 1, 1, 1]);
    expect(valueOf(first, "flotilla_propagation_applied_seconds_bucket", { member_cluster: "paris", le: "1" })).toBe(1);
    expect(counts(second)).toEqual([2, 2, 2, 2]);
    expect(counts(await scrape())).toEqual([2, 2, 2, 2]);
  });

  test("measure a template that waited for its policy from the policy's creation", async () => {
    await fleet.client.create(CloneSet, "hub", cloneSet("web"));
    await fleet.run(3_600_000);

    await fleet.client.create(
      PropagationPolicy,
      "hub",
      policy("web", [{ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }]),
    );
    await fleet.run(60_000);

    const page = await scrape();
    expect(valueOf(page, "flotilla_propagation_applied_seconds_bucket", { member_cluster: "paris", le: "30" })).toBe(
      valueOf(page, "flotilla_propagation_applied_seconds_count", { member_cluster: "paris" }),
    );
  });

  test("count objects by state while they change, and drop deleted ones", async () => {
    await propagate();
    const applied = await scrape();
    await fleet.client.delete(CloneSet, { cluster: "hub", namespace: "default", name: "web" });
    await fleet.run(60_000);
    const gone = await scrape();

    expect(valueOf(applied, "flotilla_bindings", { state: "applied" })).toBe(1);
    expect(valueOf(applied, "flotilla_works", { member_cluster: "oslo", state: "applied" })).toBeGreaterThan(0);
    expect(valueOf(applied, "flotilla_work_objects", { member_cluster: "oslo", health: "Healthy" })).toBeGreaterThan(0);
    expect(valueOf(applied, "flotilla_manifestworks", { member_cluster: "paris", state: "available" })).toBe(1);
    expect(valueOf(applied, "flotilla_placements", { state: "satisfied" })).toBe(1);
    expect(valueOf(gone, "flotilla_bindings", { state: "applied" })).toBeUndefined();
  });

  test("report members under Karmada's names", async () => {
    await propagate();
    const page = await scrape();

    const of = (name: string): number | undefined => valueOf(page, name, { member_cluster: "paris" });
    expect([
      of("cluster_ready_state"),
      of("cluster_node_number"),
      of("cluster_ready_node_number"),
      of("flotilla_managed_cluster_available"),
    ]).toEqual([1, 2, 2, 1]);
    expect(of("cluster_cpu_allocatable_number")).toBeGreaterThan(1);
    expect(of("cluster_pod_allocated_number")).toBeGreaterThan(1);
    expect(of("flotilla_kruise_manager_ready_pods")).toBe(of("flotilla_kruise_manager_pods"));
    expect(of("flotilla_kruise_manager_ready_pods")).toBeGreaterThan(0);
    expect(
      valueOf(page, "karmada_scheduler_schedule_attempts_total", {
        result: "scheduled",
        schedule_type: "ReconcileSchedule",
      }),
    ).toBe(1);
    expect(
      valueOf(page, "create_resource_to_cluster", {
        result: "success",
        kind: "CloneSet",
        member_cluster: "paris",
        recreate: "false",
      }),
    ).toBe(1);
    expect(valueOf(page, "policy_apply_attempts_total", { result: "error" }) ?? 0).toBe(0);
  });

  test("report OpenKruise's workloads as kruise-state-metrics does", async () => {
    await propagate();

    const [all, paris, alone] = [
      await scrape("/metrics/members"),
      await scrape("/metrics/members?cluster=paris"),
      await scrape("/metrics", "paris"),
    ];

    expect(
      valueOf(all, "kruise_cloneset_status_replicas_ready", {
        member_cluster: "oslo",
        namespace: "default",
        cloneset: "web",
      }),
    ).toBe(2);
    expect(
      valueOf(all, "kruise_cloneset_spec_strategy_type", { member_cluster: "oslo", strategy_type: "ReCreate" }),
    ).toBe(1);
    expect(new Set(paris.samples.map(({ labels }) => labels["member_cluster"]))).toEqual(new Set(["paris", undefined]));
    expect(alone.samples.find(({ name }) => name === "kruise_cloneset_spec_replicas")).toEqual({
      name: "kruise_cloneset_spec_replicas",
      labels: { namespace: "default", cloneset: "web" },
      value: 2,
    });
  });

  test("cause no writes, and are unchanged when nothing happens", async () => {
    await propagate();
    await scrape();
    await scrape("/metrics/members");
    await fleet.run(60_000);
    fleet.resetWrites();

    const [first, second] = [await scrape("/metrics/members"), await scrape("/metrics/members")];

    expect(first).toEqual(second);
    expect(fleet.writes()).toEqual([]);
  });

  test("are readable only with permission", async () => {
    const as = async (name: string, path: string): Promise<number> => {
      const { status } = await fleet.hub.server.handle({
        method: "GET",
        path,
        query: new URLSearchParams(),
        headers: {},
        body: new Uint8Array(),
        user: { name, groups: ["system:authenticated"] },
        signal: new AbortController().signal,
      });
      return status;
    };
    const prometheus = "system:serviceaccount:kube-system:prometheus";
    const before = [await as(prometheus, "/metrics"), await as(prometheus, "/metrics/members")];

    await fleet.client.create(ClusterRole, "hub", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "flotilla-metrics" },
      rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics", "/metrics/members"] }],
    });
    await fleet.client.create(ClusterRoleBinding, "hub", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "flotilla-metrics" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "flotilla-metrics" },
      subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace: "kube-system" }],
    });

    expect(before).toEqual([403, 403]);
    expect([
      await as(prometheus, "/metrics"),
      await as(prometheus, "/metrics/members"),
      await as(prometheus, "/api/v1/secrets"),
      await as(prometheus, "/clusters/paris/metrics"),
      await as("alice", "/metrics"),
    ]).toEqual([200, 200, 403, 403, 403]);
  });
});

describe("a failure", () => {
  test("is counted: a rejection by a member, a failing script, a work that is not applied", async () => {
    await fleet.client.create(ResourceInterpreterCustomization, "hub", {
      apiVersion: "config.karmada.io/v1alpha1",
      kind: "ResourceInterpreterCustomization",
      metadata: { name: "broken" },
      spec: {
        target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" },
        customizations: {
          statusReflection: {
            luaScript: "function ReflectStatus(observedObj)\n  return observedObj.missing.field\nend",
          },
        },
      },
    });
    await fleet.client.create(ResourceQuota, "paris", {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "none", namespace: "default" },
      spec: { hard: { configmaps: "0" } },
    });
    await fleet.run(5_000);
    await propagate();
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      policy("settings", [{ apiVersion: "v1", kind: "ConfigMap", name: "shared" }]),
    );
    await fleet.client.create(ConfigMap, "hub", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "shared", namespace: "default" },
    });
    await fleet.run(120_000);

    const page = await scrape();

    expect(
      valueOf(page, "flotilla_delivery_refusals_total", { member_cluster: "paris", reason: "quota" }),
    ).toBeGreaterThan(0);
    expect(valueOf(page, "flotilla_works", { member_cluster: "paris", state: "failed" })).toBeGreaterThan(0);
    expect(valueOf(page, "flotilla_manifestworks", { member_cluster: "paris", state: "failed" })).toBe(1);
    expect(
      valueOf(page, "flotilla_interpreter_script_failures_total", { customization: "broken", reason: "error" }),
    ).toBeGreaterThan(0);
    expect(valueOf(page, "flotilla_bindings", { state: "failed" })).toBe(1);
    // A kind that no hub controller reads is watched from the first scrape.
    await scrape("/metrics/members");
    await fleet.settle();
    const quota = await scrape("/metrics/members");
    expect(
      ["hard", "used"].map((type) =>
        valueOf(quota, "kube_resourcequota", { member_cluster: "paris", resource: "configmaps", type }),
      ),
    ).toEqual([0, expect.any(Number)]);
  });
});
