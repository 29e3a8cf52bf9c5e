/**
 * Open Cluster Management's own pods: its controllers on the hub, its agent on members; present from the start without
 * stored objects, with the logs of this process.
 */
import { afterEach, expect, test } from "vitest";
import { ManagedCluster } from "@flotilla/ocm";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const HUB_NAMESPACE = "open-cluster-management-hub";
const AGENT_NAMESPACE = "open-cluster-management-agent";
const podsIn = async (cluster: string, namespace: string): Promise<string[]> =>
  (await fleet.client.list(Pod, { cluster, namespace })).items.map(
    ({ metadata, status }) => `${metadata.name} ${status?.phase}`,
  );

async function logOf(cluster: string, namespace: string, pod: string): Promise<string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (
    await fleet.client.raw({ cluster, method: "GET", path: `/api/v1/namespaces/${namespace}/pods/${pod}/log` })
  ).body)
    chunks.push(chunk);
  return Buffer.concat(chunks).toString().split("\n").filter(Boolean);
}

test("the hub shows its controllers, and each member its agent, without any writes", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2 });
  await fleet.run(60_000);
  fleet.resetWrites();

  await fleet.run(600_000);

  expect(await podsIn("hub", HUB_NAMESPACE)).toEqual([
    "cluster-manager-5d8c6f7b94-m4n8g Running",
    "cluster-manager-placement-controller-5d8c6f7b94-m4n8g Running",
    "cluster-manager-registration-controller-5d8c6f7b94-m4n8g Running",
    "cluster-manager-work-controller-5d8c6f7b94-m4n8g Running",
  ]);
  expect(await podsIn("m1", AGENT_NAMESPACE)).toEqual(["klusterlet-5d8c6f7b94-m4n8g Running"]);
  expect(fleet.writes().filter(({ cluster }) => cluster === "m1")).toEqual([]);
});

test("neither namespace is propagated to members", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.run(60_000);

  const { items } = await fleet.client.list(Namespace, { cluster: "m1" });

  expect(
    items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith("open-cluster-management") || name === "m1"),
  ).toEqual([AGENT_NAMESPACE]);
});

test("the log of the controllers contains their own lines", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(ManagedCluster, "hub", {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name: "c1" },
    spec: { hubAcceptsClient: true },
  });
  await fleet.settle();

  const lines = await logOf("hub", HUB_NAMESPACE, "cluster-manager-5d8c6f7b94-m4n8g");

  expect(lines[0]).toBe(
    "2024-05-01T12:00:00.000Z INFO cluster-manager of hub runs inside Flotilla; the following lines are its log messages about hub",
  );
  expect(lines.filter((line) => line.includes("managed cluster changed") && line.includes("member=c1"))).toHaveLength(
    1,
  );
  expect((await logOf("m1", AGENT_NAMESPACE, "klusterlet-5d8c6f7b94-m4n8g"))[0]).toContain(
    "klusterlet of m1 runs inside Flotilla",
  );
});
