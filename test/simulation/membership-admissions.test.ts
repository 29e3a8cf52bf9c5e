import { describe, expect, test } from "vitest";
import { Cluster, Work } from "@flotilla/karmada";
import { Namespace as NamespaceKind } from "@flotilla/kubernetes";
import type { Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { datedTaints } from "../../packages/flotilla/src/membership/admissions.ts";

test("rejects deleting the execution namespace of an existing member, and allows other namespaces", async () => {
  const { client, stop } = await startTestFleet({ members: ["member1"] });
  const namespace = (name: string): Namespace => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.create(NamespaceKind, "hub", namespace("karmada-examples"));
  await client.create(NamespaceKind, "hub", namespace("karmada-es-gone"));

  for (const name of ["karmada-es-member1", "karmada-system", "karmada-cluster"]) {
    await expect(client.delete(NamespaceKind, { cluster: "hub", name })).rejects.toThrow(
      "deleting it would delete their workloads",
    );
  }
  for (const name of ["karmada-examples", "karmada-es-gone"])
    expect(await client.delete(NamespaceKind, { cluster: "hub", name })).toBe("going");
  await stop();
});

test("sets timeAdded of a NoExecute taint from the hub's clock when a Cluster gets it", async () => {
  const { client, clock, stop } = await startTestFleet({ members: ["member1"] });

  const tainted = await client.patch(
    Cluster,
    { cluster: "hub", name: "member1" },
    {
      spec: {
        taints: [
          { key: "a", effect: "NoExecute" },
          { key: "b", effect: "NoSchedule" },
        ],
      },
    },
    { type: "merge" },
  );

  expect(tainted.spec.taints).toEqual([
    { key: "a", effect: "NoExecute", timeAdded: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z") },
    { key: "b", effect: "NoSchedule" },
  ]);
  await stop();
});

test("warns of taints of a policy that the hub sets itself, and of those of another policy", async () => {
  const { client, stop } = await startTestFleet({ members: ["member1"] });
  const taints = [{ key: "quarantine", effect: "NoSchedule" }];
  const policy = (name: string, spec: object) => ({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name },
    spec,
  });
  const warningsOf = async (object: object): Promise<unknown> =>
    (
      await client.raw({
        method: "POST",
        cluster: "hub",
        path: "/apis/policy.karmada.io/v1alpha1/clustertaintpolicies",
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(object)),
      })
    ).headers["warning"];

  const first = await warningsOf(policy("a", { taints }));
  const second = await warningsOf(
    policy("b", { taints: [...taints, { key: "cluster.karmada.io/not-ready", effect: "NoSchedule" }] }),
  );

  expect(first).toBeUndefined();
  expect(second).toContain("spec.taints[0]: ClusterTaintPolicy a has the same taint");
  expect(second).toContain(
    "spec.taints[1]: the hub adds and removes cluster.karmada.io/not-ready with the condition Ready",
  );
  await stop();
});

describe("timeAdded of a taint", () => {
  const known = { key: "a", effect: "NoExecute" as const, timeAdded: "2024-05-01T12:00:00Z" };

  test("is kept when a client writes the taint without it", () => {
    expect(datedTaints([{ key: "a", effect: "NoExecute" }], [known], "2024-05-02T12:00:00Z")).toEqual([known]);
  });

  test("is renewed when the taint has another value", () => {
    expect(datedTaints([{ key: "a", value: "b", effect: "NoExecute" }], [known], "2024-05-02T12:00:00Z")).toEqual([
      { key: "a", value: "b", effect: "NoExecute", timeAdded: "2024-05-02T12:00:00Z" },
    ]);
  });
});

test("every Work gets a permanent id", async () => {
  const { client, stop } = await startTestFleet({ members: ["member1"] });
  const work: Work = {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "w", namespace: "karmada-es-member1" },
    spec: { workload: { manifests: [] } },
  };

  const created = await client.create(Work, "hub", work);

  expect(created.metadata.labels?.["work.karmada.io/permanent-id"]).toMatch(/^[0-9a-f-]{36}$/);
  await stop();
});
