/** A PodUnavailableBudget is one number for the fleet: what members with its parts allow, on simulated members. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { copy } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import { PodUnavailableBudget } from "../../packages/openkruise/src/podunavailablebudget/podunavailablebudget-kind.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const MEMBERS = ["member1", "member2", "member3"] as const;
const web = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

const policy = (weights: Record<string, number>): PropagationPolicy =>
  makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .selects("policy.kruise.io/v1beta1", "PodUnavailableBudget")
    .weights(weights)
    .build();
const budget = (maxUnavailable: number): PodUnavailableBudget => ({
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "web", namespace: "shop" },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable },
});

async function start(maxUnavailable: number): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy({ member1: 1, member2: 1, member3: 1 }));
  await fleet.client.create(PodUnavailableBudget, "hub", budget(maxUnavailable));
  const cloneSet = makeCloneSet("shop/web")
    .replicas(6)
    .with(
      ({ spec }) => (spec.updateStrategy = { rollingUpdate: { maxUnavailable: "100%", podUpdatePolicy: "ReCreate" } }),
    );
  await fleet.client.create(CloneSet, "hub", cloneSet.build());
  await fleet.run(60_000);
}
const parts = (): Promise<unknown[]> =>
  Promise.all(
    MEMBERS.map(
      async (cluster) => (await find(fleet.client, PodUnavailableBudget, { ...web, cluster }))?.spec.maxUnavailable,
    ),
  );
const images = async (): Promise<(string | undefined)[]> =>
  (await Promise.all(MEMBERS.map((cluster) => fleet.client.list(Pod, { cluster, namespace: "shop" }))))
    .flatMap(({ items }) => items)
    .map(({ spec }) => spec.containers[0]?.image);
const readyPods = async (): Promise<number> =>
  (await Promise.all(MEMBERS.map((cluster) => fleet.client.list(Pod, { cluster, namespace: "shop" }))))
    .flatMap(({ items }) => items)
    .filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    ).length;

test("a budget of one pod lets a release pass from member to member, and never takes a second pod", async () => {
  await start(1);
  expect(await parts()).toEqual([1, 0, 0]);
  expect((await fleet.client.get(PodUnavailableBudget, web)).status).toMatchObject({
    unavailableAllowed: 1,
    currentAvailable: 6,
    desiredAvailable: 5,
    totalReplicas: 6,
  });

  await fleet.client.patch(
    CloneSet,
    web,
    { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } },
    { type: "merge" },
  );
  const fewest: number[] = [];
  for (let half = 0; half < 60; half++) {
    await fleet.run(500);
    fewest.push(await readyPods());
  }

  expect(Math.min(...fewest)).toBe(5);
  expect(new Set(await images())).toEqual(new Set(["web:2"]));
  expect(await parts()).toEqual([1, 0, 0]);
});

test("parts follow the pods, and a converged budget writes nothing", async () => {
  await start(2);
  expect(await parts()).toEqual([1, 1, 0]);

  const { spec } = policy({ member2: 1, member3: 5 });
  await fleet.client.patch(
    PropagationPolicy,
    { ...web, name: "all" },
    { spec: copy(spec) as unknown as Json },
    { type: "merge" },
  );
  await fleet.run(120_000);

  expect(await parts()).toEqual([undefined, 0, 2]);
  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);
});
