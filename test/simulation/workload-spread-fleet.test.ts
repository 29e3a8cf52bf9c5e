/** The limits of a WorkloadSpread count the pods of the fleet, and follow its workload over simulated members. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Pod } from "@flotilla/kubernetes";
import { WorkloadSpread } from "../../packages/openkruise/src/workloadspread/workloadspread-kind.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { startShop, WEB as web } from "./shop-fleet.ts";

const MEMBERS = ["member1", "member2"] as const;

let fleet: TestFleet;
afterEach(() => fleet.stop());

const baseOn = async (cluster: string): Promise<number> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.filter(
    ({ metadata }) => metadata.labels?.["subset"] === "base",
  ).length;

test("three base pods of the fleet are divided like the workload, and again when there are more", async () => {
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .selects("apps.kruise.io/v1alpha1", "WorkloadSpread")
    .weights({ member1: 2, member2: 1 });
  fleet = await startShop(MEMBERS, policy.build());
  await fleet.client.create(WorkloadSpread, "hub", {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "WorkloadSpread",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      targetRef: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      subsets: [
        { name: "base", maxReplicas: 3, patch: { metadata: { labels: { subset: "base" } } } },
        { name: "burst", patch: { metadata: { labels: { subset: "burst" } } } },
      ],
    },
  });
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(6).build());
  await fleet.run(60_000);

  const limits = (): Promise<unknown[]> =>
    Promise.all(
      MEMBERS.map(
        async (cluster) => (await fleet.client.get(WorkloadSpread, { ...web, cluster })).spec.subsets[0]?.maxReplicas,
      ),
    );
  expect(await limits()).toEqual([2, 1]);
  expect(await Promise.all(MEMBERS.map(baseOn))).toEqual([2, 1]);
  expect((await fleet.client.get(WorkloadSpread, web)).status?.subsetStatuses).toMatchObject([
    { name: "base", replicas: 3, missingReplicas: 0 },
    { name: "burst", replicas: 3, missingReplicas: -1 },
  ]);

  await fleet.client.patch(WorkloadSpread, web, [{ op: "replace", path: "/spec/subsets/0/maxReplicas", value: 6 }], {
    type: "json",
  });
  await fleet.run(60_000);
  expect(await limits()).toEqual([4, 2]);
});
