/** A DaemonSet with OnDelete keeps its pods when its template changes: that is said, and not waited for. */
import { afterEach, expect, test } from "vitest";
import { Pod } from "@flotilla/kubernetes";
import { runCommand } from "./run-command.ts";
import { readAll, startHealthFleet } from "./health-fleet.ts";
import type { HealthFleet, Manifest } from "./health-fleet.ts";

let health: HealthFleet;
afterEach(() => health.fleet.stop());

const matchLabels = { app: "web" };
const containers = (image: string) => [{ name: "web", image }];
const web: Manifest = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { namespace: "shop", name: "web" },
  spec: {
    updateStrategy: { type: "OnDelete" },
    selector: { matchLabels },
    template: { metadata: { labels: matchLabels }, spec: { containers: containers("web:1") } },
  },
};
const HELD = "2 of 2 pods keep the previous template: with OnDelete the member replaces a pod when it is deleted";

test("pods that OnDelete keeps are named by why, status and wait, until they are deleted", async () => {
  health = await startHealthFleet({ members: ["m1"], nodes: 2 });
  const { client, clock } = health.fleet;
  await health.create(
    "hub",
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { namespace: "shop", name: "all" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "DaemonSet" }],
        placement: { clusterAffinity: { clusterNames: ["m1"] } },
      },
    },
    web,
  );
  await health.fleet.run(30_000);
  await health.patch("hub", web, { spec: { template: { spec: { containers: containers("web:2") } } } });
  await health.fleet.run(20_000);

  const waited = runCommand({ client, clock }, "wait", "daemonset.apps/web", "-n", "shop", "--timeout", "10");
  await health.fleet.run(12_000);

  expect((await waited).text).toBe(`DaemonSet shop/web is healthy on m1: ${HELD}\n`);
  expect(readAll(await health.run("why", "daemonset.apps/web", "-n", "shop"))).toContain(`m1: applied, ${HELD}`);
  expect(await health.run("status", "-n", "shop")).toContain("2/2 (0 of 2 updated)");

  const { items } = await client.list(Pod, { cluster: "m1", namespace: "shop" });
  for (const { metadata } of items) await client.delete(Pod, { cluster: "m1", ...metadata, namespace: "shop" });
  await health.fleet.run(60_000);

  expect(readAll(await health.run("why", "daemonset.apps/web", "-n", "shop"))).toContain("m1: applied, healthy");
  expect(await health.run("status", "-n", "shop")).toMatch(/DaemonSet +2\/2 +True/);
});
