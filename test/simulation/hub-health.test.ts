/** A hub's health: on `/readyz`, on `/metrics`, and by expiring events. */
import { afterEach, expect, test } from "vitest";
import { Deployment, Event } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function page(path: string, cluster = "hub"): Promise<{ status: number; text: string }> {
  const { status, body } = await fleet.client.raw({ cluster, method: "GET", path });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status, text: Buffer.concat(chunks).toString() };
}

const deployment = (name: string): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

for (const kruise of ["installed", "none"] as const) {
  test(`a hub with working controllers is ready, with OpenKruise ${kruise}`, async () => {
    fleet = await startTestFleet({ members: ["m1"], nodes: 1, kruise });

    const { status, text } = await page("/readyz?verbose");

    expect(text).toContain("[+]controllers ok\n");
    expect(status).toBe(200);
  });
}

test("the metrics of every controller are on the hub's page, each once", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(Deployment, "m1", deployment("web"));
  await fleet.run(10_000);

  const { text } = await page("/metrics");

  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(new Set(samples.map((line) => line.slice(0, line.lastIndexOf(" ")))).size).toBe(samples.length);
  expect(text).toMatch(/^controller_runtime_reconcile_total\{controller="deployment",result="success"\} [1-9]\d*$/m);
  expect(text).toMatch(/^workqueue_depth\{name="deployment"\} 0$/m);
});

test("the events of a member expire after an hour, without controller writes", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(Deployment, "m1", deployment("web"));
  await fleet.run(60_000);
  const reported = (await fleet.client.list(Event, { cluster: "m1" })).items.length;
  fleet.resetWrites();

  await fleet.run(3_600_000);

  expect(reported).toBeGreaterThan(0);
  expect((await fleet.client.list(Event, { cluster: "m1" })).items).toEqual([]);
  expect(fleet.writes()).toEqual([]);
});
