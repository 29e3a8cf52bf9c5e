/** Sidecars are injected on members that run OpenKruise, and never on the hub, which holds templates. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "../../packages/openkruise/src/cloneset/cloneset-kind.ts";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { PodUnavailableBudget } from "../../packages/openkruise/src/podunavailablebudget/podunavailablebudget-kind.ts";
import { SidecarSet } from "../../packages/openkruise/src/sidecarset/sidecarset-kind.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const NAMESPACE = "shop";
const sidecarSet: SidecarSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "SidecarSet",
  metadata: { name: "proxies" },
  spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "proxy", image: "proxy:1" }] },
};
const budget: PodUnavailableBudget = {
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "budget", namespace: NAMESPACE },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
};
const pod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: NAMESPACE, labels: { app: "web" } },
  spec: { containers: [{ name: "main", image: "web:1" }] },
};

async function prepare(cluster: string): Promise<void> {
  await fleet.client.create(Namespace, cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await fleet.client.create(SidecarSet, cluster, sidecarSet);
  await fleet.client.create(PodUnavailableBudget, cluster, budget);
  await fleet.settle();
}

test("a member injects sidecars and protects pods", async () => {
  fleet = await startTestFleet({ members: ["paris"], nodes: 1 });
  await prepare("paris");
  const template = { metadata: { labels: { app: "web" } }, spec: pod.spec };
  await fleet.client.create(CloneSet, "paris", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template },
  });
  await fleet.run(10_000);

  const [made] = (await fleet.client.list(Pod, { cluster: "paris", namespace: NAMESPACE })).items;

  expect(made?.spec.containers.map(({ name }) => name)).toEqual(["proxy", "main"]);
  expect(made?.metadata.annotations?.["kruise.io/related-pub"]).toBe("budget");
  await expect(
    fleet.client.delete(Pod, { cluster: "paris", namespace: NAMESPACE, name: made?.metadata.name ?? "" }),
  ).rejects.toThrow("pub unavailable allowed is negative");
});

test("the hub stores objects unchanged", async () => {
  fleet = await startTestFleet({ members: ["paris"], nodes: 1 });
  await prepare("hub");

  const made = await fleet.client.create(Pod, "hub", pod);

  expect(made.spec.containers.map(({ name }) => name)).toEqual(["main"]);
  expect(made.metadata.annotations).toBeUndefined();
});
