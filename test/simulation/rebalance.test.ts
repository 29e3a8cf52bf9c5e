/** A WorkloadRebalancer reschedules workloads once, reports the result, and is deleted after its TTL. */
import { afterEach, expect, test } from "vitest";
import { Cluster, PropagationPolicy, ResourceBinding, WorkloadRebalancer } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SECOND = 1_000;
const KEY = { cluster: "hub", name: "after-repair" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

const rebalancer = (
  workloads: WorkloadRebalancer["spec"]["workloads"],
  ttlSecondsAfterFinished?: number,
): WorkloadRebalancer => ({
  apiVersion: "apps.karmada.io/v1alpha1",
  kind: "WorkloadRebalancer",
  metadata: { name: KEY.name },
  spec: { workloads, ttlSecondsAfterFinished },
});
const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const missing = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "missing" };
const shares = async () =>
  (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" })).spec
    .clusters;

async function start(options = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 2, ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.placement = {
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
          weightPreference: { dynamicWeight: "AvailableReplicas" },
        },
      };
    });
  // Nothing can be scheduled to member2 at first.
  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { spec: { taints: [{ key: "repair", effect: "NoSchedule" }] } },
    { type: "merge" },
  );
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(20 * SECOND);
}

test("replicas return to a recovered member, and a workload without a binding has failed", async () => {
  await start();
  expect(await shares()).toEqual([{ name: "member1", replicas: 4 }]);
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member2" }, { spec: { taints: null } }, { type: "merge" });
  await fleet.run(20 * SECOND);
  expect(await shares()).toEqual([{ name: "member1", replicas: 4 }]);

  await fleet.client.create(WorkloadRebalancer, "hub", rebalancer([web, missing]));
  await fleet.run(20 * SECOND);

  expect(await shares()).toEqual([
    { name: "member1", replicas: 2 },
    { name: "member2", replicas: 2 },
  ]);
  expect((await fleet.client.get(WorkloadRebalancer, KEY)).status).toEqual({
    finishTime: expect.any(String),
    observedGeneration: 1,
    observedWorkloads: [
      { workload: missing, result: "Failed", reason: "ReferencedBindingNotFound" },
      { workload: web, result: "Successful" },
    ],
  });
  fleet.resetWrites();
  await fleet.run(600 * SECOND);
  expect(fleet.writes()).toEqual([]);
});

test("a WorkloadRebalancer is deleted after its TTL, which a restart does not reset", async () => {
  const engine = createLastingEngine();
  await start({ engine });
  await fleet.client.create(WorkloadRebalancer, "hub", rebalancer([web], 60));
  await fleet.run(40 * SECOND);
  const atMs = fleet.clock.now();
  await fleet.stop();
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 2, engine });
  await fleet.run(atMs - fleet.clock.now());
  await fleet.client.get(WorkloadRebalancer, KEY);

  await fleet.run(21 * SECOND);

  await expect(fleet.client.get(WorkloadRebalancer, KEY)).rejects.toThrow("not found");
});
