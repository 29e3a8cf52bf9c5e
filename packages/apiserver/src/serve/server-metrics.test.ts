import { describe, expect, test, vi } from "vitest";
import type { MetricsText } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { MERGE, PROFILE, createTestServer, makeConfigMap } from "../test-server.ts";
import { createServerMetrics } from "./server-metrics.ts";
import type { ObservedRequest } from "./server-metrics.ts";

const NOTHING = { objects: new Map<string, number>(), backlogBytes: 0 };
const seen = (resource: string): ObservedRequest => ({
  cluster: "hub",
  verb: "GET",
  group: "",
  version: "v1",
  resource,
  subresource: "",
  scope: "resource",
  dryRun: false,
});

describe("the metrics of a server", () => {
  test("count requests by verb, resource and status code", async () => {
    const { request } = await createTestServer();
    await request("POST", "/api/v1/namespaces/default/configmaps", makeConfigMap("a"));
    await request("GET", "/api/v1/namespaces/default/configmaps/missing");

    const { text, headers } = await request("GET", "/metrics");

    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text).toContain(
      'apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",' +
        'scope="namespace",subresource="",verb="POST",version="v1"} 1\n',
    );
    expect(text).toContain(
      'apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="configmaps",' +
        'scope="resource",subresource="",verb="GET",version="v1"} 1\n',
    );
    expect(text).toContain('apiserver_storage_objects{resource="configmaps"} 1\n');
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  });

  test("count a resource with bootstrap objects by its keys, without listing it", async () => {
    const maps = "/api/v1/namespaces/default/configmaps";
    const inProfile = (name: string): KubernetesObject => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "default" },
    });
    const { request, cache } = await createTestServer({
      profiles: {
        hub: { ...PROFILE, objects: [...PROFILE.objects, ...["kept", "changed", "deleted"].map(inProfile)] },
      },
    });
    await request("POST", maps, makeConfigMap("own"));
    await request("PATCH", `${maps}/changed`, { data: { changed: "yes" } }, MERGE);
    await request("DELETE", `${maps}/deleted`);
    const items = (await request("GET", maps)).body.items as unknown as KubernetesObject[];
    const list = vi.spyOn(cache, "list");

    const { text } = await request("GET", "/metrics");

    expect(items.map(({ metadata }) => metadata.name)).toEqual(["changed", "kept", "own"]);
    expect(text).toContain('apiserver_storage_objects{resource="configmaps"} 3\n');
    expect(list.mock.calls.filter(([prefix]) => prefix.includes("configmaps"))).toEqual([]);
  });

  test("belong to one logical cluster", async () => {
    const { request } = await createTestServer({ clusters: { hub: "hub", paris: "hub" } });
    await request("GET", "/clusters/paris/api/v1/namespaces");

    expect((await request("GET", "/metrics")).text).not.toContain('verb="LIST"');
    expect((await request("GET", "/clusters/paris/metrics")).text).toContain('verb="LIST"');
  });

  test("start at zero in a recreated cluster", async () => {
    const { request, server } = await createTestServer({ clusters: { hub: "hub", paris: "hub" } });
    await request("GET", "/clusters/paris/api/v1/namespaces");

    await server.removeCluster("paris");
    await server.addCluster("paris", "hub");

    expect((await request("GET", "/clusters/paris/metrics")).text).not.toContain('verb="LIST"');
  });

  test("include the controllers of this process on the hub, once for all clusters", async () => {
    const controllers = {
      problems: () => [],
      writeMetrics: (text: MetricsText) => text.sample("workqueue_depth", [["name", "deployment"]], 3),
    };
    const { request } = await createTestServer({ controllers, clusters: { hub: "hub", paris: "hub" } });

    const [hub, member] = [await request("GET", "/metrics"), await request("GET", "/clusters/paris/metrics")];

    expect(hub.text).toContain('workqueue_depth{name="deployment"} 3\n');
    expect(member.text).not.toContain("workqueue_depth");
  });

  test("include a member's workloads on its own page, and all members on a page of the hub", async () => {
    const workloads = {
      write: (text: MetricsText, cluster: string) => text.sample("kruise_cloneset_created", [["cloneset", cluster]], 1),
      page: (only?: string) => `of ${only ?? "all"}\n`,
    };
    const { request } = await createTestServer({ workloads, clusters: { hub: "hub", paris: "hub" } });

    const pages = [
      await request("GET", "/clusters/paris/metrics"),
      await request("GET", "/metrics"),
      await request("GET", "/metrics/members"),
      await request("GET", "/metrics/members?cluster=paris"),
      await request("GET", "/clusters/paris/metrics/members"),
    ];

    expect(pages[0]?.text).toContain('kruise_cloneset_created{cloneset="paris"} 1\n');
    expect(pages[1]?.text).not.toContain("kruise_cloneset_created");
    expect(pages.slice(2).map(({ status, text }) => [status, text])).toEqual([
      [200, "of all\n"],
      [200, "of paris\n"],
      [404, "404 page not found\n"],
    ]);
  });

  test("omit requests that finish after their cluster was removed", () => {
    const served = new Set(["hub"]);
    const metrics = createServerMetrics((cluster) => served.has(cluster));
    metrics.begin(false);

    served.delete("hub");
    metrics.end(false, seen("pods"), 404, 0.001);

    const text = metrics.render("hub", NOTHING);
    expect(text).not.toContain('resource="pods"');
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0\n');
  });

  test("count open watches and their events", () => {
    const metrics = createServerMetrics();
    const meter = metrics.watch(seen("pods"));

    meter.sent(3);

    expect(metrics.render("hub", NOTHING)).toContain(
      'resource="pods",scope="resource",subresource="",verb="WATCH",version="v1"} 1\n',
    );
    meter.close();
    meter.close();
    const after = metrics.render("hub", NOTHING);
    expect(after).toContain('resource="pods",scope="resource",subresource="",verb="WATCH",version="v1"} 0\n');
    expect(after).toContain('apiserver_watch_events_total{group="",resource="pods",version="v1"} 3\n');
  });

  test("are bounded when kinds are created and deleted", () => {
    const metrics = createServerMetrics();

    for (let index = 0; index < 6000; index++) {
      metrics.begin(false);
      metrics.end(false, seen(`kind${index}`), 200, 0.001);
    }

    const lines = metrics
      .render("hub", NOTHING)
      .split("\n")
      .filter((line) => line.startsWith("apiserver_request_total"));
    expect(lines.length).toBe(5001);
    expect(lines.at(-1)).toMatch(/resource="other".* 1000$/);
  });
});
