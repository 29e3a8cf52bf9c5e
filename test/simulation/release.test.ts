/** Releasing objects: by an annotation of the template, and when it is deleted with preserved copies. */
import { afterEach, describe, expect, test } from "vitest";
import { Deployment, Namespace, Pod } from "@flotilla/kubernetes";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const onHub = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1", "member2").build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(SETTLED_MS);
}
const on = (cluster: string): Promise<DeepReadonly<Deployment> | undefined> =>
  find(fleet.client, Deployment, { ...onHub, cluster });
const annotate = async (value: string | null): Promise<void> => {
  await fleet.client.patch(
    Deployment,
    onHub,
    { metadata: { annotations: { "flotilla.dev/unmanaged": value } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
};
const scale = async (replicas: number): Promise<void> => {
  await fleet.client.patch(Deployment, onHub, { spec: { replicas } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
};
const remove = async (): Promise<void> => {
  await fleet.client.delete(Deployment, onHub);
  await fleet.run(SETTLED_MS);
};
const worksOfWeb = async (cluster: string): Promise<DeepReadonly<Work>[]> =>
  (await fleet.client.list(Work, { cluster: "hub", namespace: `karmada-es-${cluster}` })).items.filter(({ metadata }) =>
    metadata.name.startsWith("web-"),
  );
const pods = async (cluster: string): Promise<string[]> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.map(({ metadata }) => metadata.uid ?? "").sort();

describe("a template with the release annotation", () => {
  test("has its objects released at once, with their pods, and they no longer follow it", async () => {
    await start();
    const before = await pods("member1");

    await annotate("true");

    const object = await on("member1");
    expect(object?.metadata.labels ?? {}).not.toHaveProperty("karmada.io/managed");
    expect(object?.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).not.toContain(
      "flotilla Apply",
    );
    expect(await pods("member1")).toEqual(before);
    expect((await worksOfWeb("member1"))[0]?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Managed", status: "False", reason: "Released" }),
    );
    await scale(5);
    expect((await on("member1"))?.spec.replicas).toBe(2);
    fleet.resetWrites();
    await fleet.run(60_000);
    expect(fleet.writes()).toEqual([]);
  });

  test("leaves them running when it is deleted", async () => {
    await start();
    await annotate("true");

    await remove();

    expect((await on("member1"))?.spec.replicas).toBe(2);
    expect(await worksOfWeb("member1")).toEqual([]);
  });

  test("leaves them running even if it is deleted at the same moment", async () => {
    await start();
    await fleet.client.patch(
      Deployment,
      onHub,
      { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
      { type: "merge" },
    );
    await fleet.settle();

    await remove();

    expect((await on("member1"))?.spec.replicas).toBe(2);
  });

  test("is released on the clusters it lists and managed on the others", async () => {
    await start();

    await annotate("member2, elsewhere");
    await scale(3);

    expect([(await on("member1"))?.spec.replicas, (await on("member2"))?.spec.replicas]).toEqual([3, 2]);
    await remove();
    expect([await on("member1"), (await on("member2"))?.spec.replicas]).toEqual([undefined, 2]);
  });

  test("is managed again when the annotation is removed, and keeps other writers' changes", async () => {
    await start();
    await annotate("true");
    await fleet.client.patch(
      Deployment,
      { ...onHub, cluster: "member1" },
      { metadata: { labels: { theirs: "yes" } }, spec: { replicas: 4 } },
      { type: "merge" },
    );

    await annotate(null);

    const object = await on("member1");
    expect(object?.spec.replicas).toBe(2);
    expect(object?.metadata.labels).toMatchObject({ "karmada.io/managed": "true", theirs: "yes" });
    expect(object?.metadata.annotations).not.toHaveProperty("flotilla.dev/released-from");
    await remove();
    expect(await on("member1")).toBeUndefined();
  });
});

describe("a Work with preserved resources", () => {
  const preserve = async (): Promise<void> => {
    await fleet.client.patch(
      PropagationPolicy,
      { ...onHub, name: "all" },
      { spec: { preserveResourcesOnDeletion: true } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
  };

  test("leaves the object without our labels", async () => {
    await start();
    await preserve();

    await remove();

    const object = await on("member1");
    expect(object?.spec.replicas).toBe(2);
    expect(
      Object.keys({ ...object?.metadata.labels, ...object?.metadata.annotations }).filter((name) =>
        /karmada|flotilla/.test(name),
      ),
    ).toEqual([]);
    expect(await worksOfWeb("member1")).toEqual([]);
  });

  test("is deleted although the object no longer exists", async () => {
    await start();
    await preserve();
    for (const work of await worksOfWeb("member1"))
      await fleet.client.patch(
        Work,
        { cluster: "hub", namespace: work.metadata.namespace ?? "", name: work.metadata.name },
        { spec: { suspendDispatching: true } },
        { type: "merge" },
      );
    await fleet.client.delete(Deployment, { ...onHub, cluster: "member1" });

    await remove();

    expect(await worksOfWeb("member1")).toEqual([]);
  });
});

test("an object that replaced ours is not deleted with the Work", async () => {
  await start();
  await fleet.client.patch(
    Deployment,
    { ...onHub, cluster: "member1" },
    { metadata: { labels: { "karmada.io/managed": null } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  await remove();

  expect((await on("member1"))?.spec.replicas).toBe(2);
  expect(await on("member2")).toBeUndefined();
});
