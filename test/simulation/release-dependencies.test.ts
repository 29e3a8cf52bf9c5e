/** Dependencies of a workload are released together with it, unless a managed workload needs them too. */
import { afterEach, expect, test } from "vitest";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const MEMBERS = ["member1", "member2"] as const;

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(...workloads: string[]): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .duplicates(...MEMBERS)
    .with(({ spec }) => (spec.propagateDeps = true));
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  for (const name of workloads) {
    const needing = makeDeployment(`shop/${name}`).with(({ spec }) => {
      const [container] = spec.template.spec?.containers ?? [];
      if (container) container.envFrom = [{ configMapRef: { name: "settings" } }];
    });
    await fleet.client.create(Deployment, "hub", needing.build());
  }
  await fleet.run(SETTLED_MS);
}
const release = async (name: string, value: string | null): Promise<void> => {
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name },
    { metadata: { annotations: { "flotilla.dev/unmanaged": value } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
};
const remove = async (name: string): Promise<void> => {
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name });
  await fleet.run(SETTLED_MS);
};
const paint = async (colour: string): Promise<void> => {
  await fleet.client.patch(
    ConfigMap,
    { cluster: "hub", namespace: "shop", name: "settings" },
    { data: { colour } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
};
const colours = async (): Promise<(string | undefined)[]> =>
  Promise.all(
    MEMBERS.map(
      async (cluster) =>
        (await find(fleet.client, ConfigMap, { cluster, namespace: "shop", name: "settings" }))?.data?.["colour"],
    ),
  );
const expectSilence = async (): Promise<void> => {
  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);
};

test("a ConfigMap no longer follows the hub once the only workload that needs it was released, and stays when that is deleted", async () => {
  await start("web");

  await release("web", "true");
  await paint("red");

  expect(await colours()).toEqual(["blue", "blue"]);
  const [work] = (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items.filter(
    ({ metadata }) => metadata.name.startsWith("settings-"),
  );
  expect(work?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Managed", status: "False", reason: "Released" }),
  );
  await expectSilence();
  await remove("web");
  expect(await colours()).toEqual(["blue", "blue"]);
  expect(
    (await fleet.client.get(ConfigMap, { cluster: "member1", namespace: "shop", name: "settings" })).metadata.labels ??
      {},
  ).not.toHaveProperty("karmada.io/managed");
});

test("a dependency is released only where the workload is, and removed from the other members with it", async () => {
  await start("web");

  await release("web", "member2");
  await paint("red");
  expect(await colours()).toEqual(["red", "blue"]);
  await remove("web");

  expect(await colours()).toEqual([undefined, "blue"]);
});

test("a dependency is adopted again with the workload", async () => {
  await start("web");
  await release("web", "true");
  await paint("red");

  await release("web", null);

  expect(await colours()).toEqual(["red", "red"]);
  await expectSilence();
  await remove("web");
  expect(await colours()).toEqual([undefined, undefined]);
});

test("a dependency stays managed while another workload needs it, and stays for the released one when that is deleted", async () => {
  await start("web", "api");

  await release("web", "true");
  await paint("red");
  expect(await colours()).toEqual(["red", "red"]);
  await remove("api");
  await paint("green");

  expect(await colours()).toEqual(["red", "red"]);
});

test("a dependency stays for a workload that was released and then deleted on the hub, also when the last managed one is deleted", async () => {
  await start("web", "api");
  await release("web", "member1");
  await remove("web");
  await paint("red");
  expect(await colours()).toEqual(["red", "red"]);

  await remove("api");

  expect(await colours()).toEqual(["red", undefined]);
});

test("a dependency stays managed where its own policy propagates it", async () => {
  await start("web");
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/own").selects("v1", "ConfigMap", "settings").duplicates("member1").build(),
  );
  await fleet.run(SETTLED_MS);

  await release("web", "true");
  await paint("red");

  expect(await colours()).toEqual(["red", "blue"]);
});
