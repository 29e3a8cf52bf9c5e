/** Unreachable members: no other member waits for them, nothing is lost, and pending changes arrive once. */
import { afterEach, expect, test } from "vitest";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import { find, UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import type { DeepReadonly } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const HOUR_MS = 3_600_000;
const onHub = { cluster: "hub", namespace: "shop", name: "web" };
const onMember = { ...onHub, cluster: "member1" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

/** The network between execute and member1. */
let network: { state: "up" | "down" | "stuck"; requests: number; release: PromiseWithResolvers<void> };

async function start(): Promise<void> {
  network = { state: "up", requests: 0, release: Promise.withResolvers() };
  const wrap = (transport: Transport, part: string): Transport => {
    if (part !== "execute") return transport;
    const pass = async <T>(cluster: string, send: () => Promise<T>): Promise<T> => {
      if (cluster !== "member1" || network.state === "up") return send();
      network.requests++;
      if (network.state === "stuck") await network.release.promise;
      throw new UnreachableError("no route to member1");
    };
    return {
      ...transport,
      send: (request, signal) => pass(request.path.cluster, () => transport.send(request, signal)),
      raw: (request, signal) => pass(request.cluster, () => transport.raw(request, signal)),
    };
  };
  fleet = await startTestFleet({ members: ["member1", "member2"], wrap });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .selects("v1", "ConfigMap")
      .duplicates("member1", "member2")
      .build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(SETTLED_MS);
}
const scale = async (replicas: number): Promise<void> => {
  await fleet.client.patch(Deployment, onHub, { spec: { replicas } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
};
const replicasOn = async (cluster: string): Promise<number | undefined> =>
  (await find(fleet.client, Deployment, { ...onHub, cluster }))?.spec.replicas;
const settings = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name },
  data: { colour: "blue" },
});
async function workOfWeb(): Promise<DeepReadonly<Work> | undefined> {
  const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" });
  return items.find(({ metadata }) => metadata.name.startsWith("web-"));
}
const writesTo = (cluster: string): string[] =>
  fleet
    .writes()
    .filter((write) => write.part === "execute" && write.cluster === cluster)
    .map(({ verb, resource, count }) => `${count} × ${verb} ${resource}`);

test("a member that is unreachable for hours gets pending changes in one apply per object, and few requests meanwhile", async () => {
  await start();
  await scale(3);
  for (let index = 0; index < 20; index++) await fleet.client.create(ConfigMap, "hub", settings(`settings-${index}`));
  await fleet.run(SETTLED_MS);

  network.state = "down";
  for (const replicas of [4, 5, 6]) await scale(replicas);
  for (let index = 0; index < 20; index++)
    await fleet.client.patch(
      ConfigMap,
      { ...onHub, name: `settings-${index}` },
      { metadata: { labels: { changed: "yes" } } },
      { type: "merge" },
    );
  await fleet.run(5 * HOUR_MS);
  expect(await replicasOn("member2")).toBe(6);
  expect((await workOfWeb())?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Applied", status: "False", message: "no route to member1" }),
  );
  // One request a minute for all of them together, plus the requests in flight at the start.
  expect(network.requests).toBeLessThan(5 * 60 * 1.5 + 40);
  network.requests = 0;

  fleet.resetWrites();
  await fleet.run(HOUR_MS);
  expect(fleet.writes().filter(({ part }) => part !== "execute")).toEqual([]);

  network.state = "up";
  fleet.resetWrites();
  await fleet.run(2 * 60_000);
  expect(await replicasOn("member1")).toBe(6);
  // This is the first change of each ConfigMap since its creation: first its owner, then the change.
  expect(writesTo("member1").sort()).toEqual(["1 × patch deployments.apps", "40 × patch configmaps"]);
  expect((await workOfWeb())?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Applied", status: "True" }),
  );
});

test("a member that accepts requests and never answers blocks no other member", async () => {
  await start();
  network.state = "stuck";

  const names = Array.from({ length: 100 }, (_, index) => `settings-${index}`);
  for (const name of names) await fleet.client.create(ConfigMap, "hub", settings(name));
  const arrived = async (): Promise<number> =>
    (await fleet.client.list(ConfigMap, { cluster: "member2", namespace: "shop" })).items.filter(({ metadata }) =>
      metadata.name.startsWith("settings-"),
    ).length;
  for (let turn = 0; turn < 20_000 && (await arrived()) < names.length; turn++)
    await new Promise((resolve) => void setImmediate(resolve));

  expect(await arrived()).toBe(100);
  expect(network.requests).toBeLessThanOrEqual(16);
  network.state = "up";
  network.release.resolve();
  await fleet.run(SETTLED_MS);
});

test("an object deleted while the member was unreachable is deleted when it is back, and a created one stays", async () => {
  await start();
  network.state = "down";

  await fleet.client.delete(Deployment, onHub);
  await fleet.client.create(ConfigMap, "hub", settings("settings"));
  await fleet.run(HOUR_MS);
  expect(await replicasOn("member1")).toBe(2);
  expect((await workOfWeb())?.metadata.deletionTimestamp).toBeDefined();

  network.state = "up";
  await fleet.run(2 * 60_000);
  expect(await replicasOn("member1")).toBeUndefined();
  expect(await workOfWeb()).toBeUndefined();
  expect((await find(fleet.client, ConfigMap, { ...onMember, name: "settings" }))?.data).toEqual({ colour: "blue" });
});

test("a template deleted and created again while the member was unreachable exists in the end", async () => {
  await start();
  network.state = "down";

  await fleet.client.delete(Deployment, onHub);
  await fleet.run(SETTLED_MS);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(7).build());
  await fleet.run(HOUR_MS);
  network.state = "up";
  await fleet.run(2 * 60_000);

  expect([await replicasOn("member1"), await replicasOn("member2")]).toEqual([7, 7]);
});
