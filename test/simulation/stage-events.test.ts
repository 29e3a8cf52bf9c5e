/** Events of the stages when something fails, and when it recovers: each once, on the object of its owner. */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  Cluster,
  ClusterPropagationPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceInterpreterCustomization,
} from "@flotilla/karmada";
import { Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
/** Long enough for every retry, and shorter than the event TTL. */
const LONG_MS = 20 * 60_000;
let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterEach(() => fleet.stop());

const eventsIn = async (namespace = "shop") =>
  (await fleet.client.list(Event, { cluster: "hub", namespace })).items.map(
    ({ involvedObject, reason, message, count }) =>
      `${involvedObject.kind} ${involvedObject.name} ${reason}${count === 1 ? "" : ` (${count})`}: ${message}`,
  );
const deploy = async (policy: PropagationPolicy): Promise<void> => {
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(SETTLED_MS);
};
const everywhere = makePolicy("shop/web")
  .selects("apps/v1", "Deployment", "web")
  .duplicates("member1", "member2")
  .build();

test("no events are emitted while nothing fails", async () => {
  await deploy(everywhere);

  expect(await eventsIn()).toEqual([]);
});

test("an unschedulable placement is reported on the binding and the template, and so is its recovery", async () => {
  await deploy(
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment", "web")
      .with(({ spec }) => (spec.placement = { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } }))
      .build(),
  );
  await fleet.run(LONG_MS);

  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { labels: { tier: "gold" } } },
    { type: "merge" },
  );
  await fleet.run(LONG_MS);

  const failed =
    "ScheduleBindingFailed: 0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint.";
  const succeeded = "ScheduleBindingSucceed: Binding has been scheduled successfully. Result: {member2:2}";
  expect((await eventsIn()).toSorted()).toEqual([
    `Deployment web ${failed}`,
    `Deployment web ${succeeded}`,
    `ResourceBinding web-deployment ${failed}`,
    `ResourceBinding web-deployment ${succeeded}`,
  ]);
});

test("a cluster-scoped object gets the same events", async () => {
  const policy = makePolicy("shop/ns")
    .selects("v1", "Namespace", "shop")
    .with(({ spec }) => (spec.placement = { clusterAffinity: { clusterNames: ["member9"] } }))
    .build();
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    ...policy,
    kind: "ClusterPropagationPolicy",
    metadata: { name: "ns" },
  });
  await fleet.run(SETTLED_MS);

  await fleet.client.patch(
    ClusterPropagationPolicy,
    { cluster: "hub", name: "ns" },
    { spec: { placement: { clusterAffinity: { clusterNames: ["member1"] } } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect((await eventsIn("default")).filter((text) => text.startsWith("ClusterResourceBinding"))).toEqual([
    "ClusterResourceBinding shop-namespace ScheduleBindingFailed: 0/2 clusters are available: 2 cluster(s) did " +
      "not match the placement cluster affinity constraint.",
    "ClusterResourceBinding shop-namespace ScheduleBindingSucceed: Binding has been scheduled successfully. Result {member1:0}",
  ]);
});

test("a fallback to a later affinity reports why the earlier one was skipped", async () => {
  await deploy(
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment", "web")
      .with(
        ({ spec }) =>
          (spec.placement = {
            clusterAffinities: [
              { affinityName: "home", clusterNames: ["member9"] },
              { affinityName: "away", clusterNames: ["member2"] },
            ],
          }),
      )
      .build(),
  );
  await fleet.run(LONG_MS);

  const failed =
    "ScheduleBindingFailed: failed to schedule ResourceBinding(shop/web-deployment) with clusterAffiliates " +
    "index(0): 0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity " +
    "constraint.";
  expect(await eventsIn()).toEqual([`ResourceBinding web-deployment ${failed}`, `Deployment web ${failed}`]);
});

test("an override that cannot be applied is reported with its policy and member, once, and so is its recovery", async () => {
  const override: OverridePolicy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "deep", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["member2"] },
          overriders: { plaintext: [{ path: "/spec/nothere/deeper", operator: "add", value: 1 }] },
        },
      ],
    },
  };
  await fleet.client.create(OverridePolicy, "hub", override);
  await deploy(everywhere);
  await fleet.run(LONG_MS);

  await fleet.client.delete(OverridePolicy, { cluster: "hub", namespace: "shop", name: "deep" });
  await fleet.run(LONG_MS);

  const failed =
    "SyncWorkFailed: member2: applying override policy deep: cannot add /spec/nothere/deeper: the object has " +
    "nothing at /spec/nothere; these members get no new copy";
  const succeeded = "SyncWorkSucceed: Sync work of ResourceBinding(shop/web-deployment) successful.";
  expect((await eventsIn()).toSorted()).toEqual(
    [
      "Deployment web ApplyOverridePolicyFailed: Apply override policy(shop/deep) for cluster(member2) failed.",
      "Deployment web ApplyOverridePolicySucceed: Apply override policy(shop/deep) for cluster(member2) succeed.",
      `Deployment web ${failed}`,
      `Deployment web ${succeeded}`,
      `ResourceBinding web-deployment ${failed}`,
      `ResourceBinding web-deployment ${succeeded}`,
    ].toSorted(),
  );
});

test("a failing rule is reported on the template, and so is its recovery", async () => {
  const customization = (luaScript: string) => ({
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "mine" },
    spec: { target: { apiVersion: "apps/v1", kind: "Deployment" }, customizations: { replicaResource: { luaScript } } },
  });
  await fleet.client.create(
    ResourceInterpreterCustomization,
    "hub",
    customization(`function GetReplicas(obj) error("no idea") end`),
  );
  await deploy(everywhere);

  await fleet.client.patch(
    ResourceInterpreterCustomization,
    { cluster: "hub", name: "mine" },
    { spec: customization(`function GetReplicas(obj) return 2, nil end`).spec },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect((await eventsIn()).filter((text) => text.startsWith("Deployment web Get"))).toEqual([
    expect.stringContaining("GetReplicasFailed"),
    "Deployment web GetReplicasSucceed: Get replicas of resource template successfully.",
  ]);
});
