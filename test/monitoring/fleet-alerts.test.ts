/** The alert rules on a fleet: silent while it is healthy, and reporting problems when it is not. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cluster, PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, ResourceQuota } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { parseExpression, selectorsOf } from "./promql-parser.ts";
import type { TimedScrape } from "./promql.ts";
import { alertRules, firing } from "./rules.ts";
import { parseMetrics } from "./scrape.ts";

/** Alerts about the test process itself do not concern the fleet. */
const OF_THE_PROCESS = new Set(["FlotillaEventLoopSlow", "FlotillaMemoryHigh"]);

/** Metrics that no rule uses are not parsed. */
const USED = new Set(alertRules.flatMap(({ expr }) => selectorsOf(parseExpression(expr)).map(({ name }) => name)));

let fleet: TestFleet;
let scrapes: TimedScrape[];
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["paris", "oslo"], nodes: 2 });
  scrapes = [];
});
afterEach(() => fleet.stop());

async function page(path: string): Promise<TimedScrape["samples"]> {
  const { body } = await fleet.client.raw({ cluster: "hub", method: "GET", path });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().split("\n");
  return parseMetrics(
    lines.filter((line) => line === "" || line.startsWith("#") || USED.has(/^\w+/.exec(line)?.[0] ?? "")).join("\n"),
  ).samples;
}

/** Prometheus scrapes both pages every other minute. */
async function watch(minutes: number): Promise<string[]> {
  for (let minute = 0; minute < minutes; minute += 2) {
    await fleet.run(120_000);
    scrapes.push({
      timeMs: fleet.clock.now(),
      samples: [...(await page("/metrics")), ...(await page("/metrics/members"))],
    });
  }
  const alerts = firing(scrapes).filter(({ alert }) => !OF_THE_PROCESS.has(alert));
  return [
    ...new Set(
      alerts.map(({ alert, labels }) => `${alert} ${labels["member_cluster"] ?? labels["customization"] ?? ""}`.trim()),
    ),
  ].toSorted();
}

const cloneSet: CloneSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
};
const policy = (
  name: string,
  kind: { apiVersion: string; kind: string },
  clusterNames = ["paris", "oslo"],
): PropagationPolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name, namespace: "default" },
  spec: {
    resourceSelectors: [{ ...kind, name }],
    placement: {
      clusterAffinity: { clusterNames },
      replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
    },
  },
});
const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
});
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap" };

async function deploy(): Promise<void> {
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy("web", { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }),
  );
  await fleet.client.create(CloneSet, "hub", cloneSet);
}

test("a healthy fleet fires nothing, also during a rollout", async () => {
  await deploy();
  const after = await watch(16);
  await fleet.client.patch(
    CloneSet,
    { cluster: "hub", namespace: "default", name: "web" },
    { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } },
    { type: "merge" },
  );

  expect(after).toEqual([]);
  expect(await watch(36)).toEqual([]);
});

test("a problem fires its alert on its member, and stops when it is fixed", async () => {
  await deploy();
  await fleet.client.create(ResourceQuota, "paris", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "none", namespace: "default" },
    spec: { hard: { configmaps: "0" } },
  });
  await watch(5);
  await fleet.client.create(PropagationPolicy, "hub", policy("shared", CONFIG_MAP, ["paris"]));
  await fleet.client.create(ConfigMap, "hub", configMap("shared"));
  await fleet.client.create(PropagationPolicy, "hub", policy("lost", CONFIG_MAP, ["berlin"]));
  await fleet.client.create(ConfigMap, "hub", configMap("lost"));
  await fleet.client.create(ManifestWork, "hub", {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "settings", namespace: "paris" },
    spec: { workload: { manifests: [configMap("settings")] } },
  } as unknown as ManifestWork);
  const broken = await watch(34);
  await fleet.client.delete(ResourceQuota, { cluster: "paris", namespace: "default", name: "none" });
  await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "default", name: "lost" });
  await fleet.client.delete(ConfigMap, { cluster: "hub", namespace: "default", name: "lost" });

  expect(broken).toEqual([
    "FlotillaBindingFailed",
    "FlotillaBindingUnschedulable",
    "FlotillaManifestWorkFailed paris",
    "FlotillaPropagationFailed paris",
    "FlotillaQuotaRejected paris",
  ]);
  expect(await watch(36)).toEqual([]);
});

test("a failing script fires with its name", async () => {
  const reflect = "function ReflectStatus(observedObj)\n  return observedObj.missing.field\nend";
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "broken" },
    spec: {
      target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" },
      customizations: { statusReflection: { luaScript: reflect } },
    },
  });
  await watch(1);
  await deploy();

  expect(await watch(5)).toContain("FlotillaInterpreterScriptFailing broken");
});

test("an unreachable member fires, and so do its pending works", async () => {
  await deploy();
  await watch(5);
  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "paris" },
    { metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } } },
    { type: "merge" },
  );
  await fleet.client.patch(
    CloneSet,
    { cluster: "hub", namespace: "default", name: "web" },
    { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } },
    { type: "merge" },
  );
  const cut = await watch(15);
  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "paris" },
    { metadata: { annotations: { "simulation.flotilla.dev/fault": null } } },
    { type: "merge" },
  );

  expect(cut).toContain("FlotillaClusterNotReady paris");
  expect(cut).toContain("FlotillaMemberBackingOff paris");
  expect(await watch(36)).toEqual([]);
});
