/** A workload whose dispatch was suspended is not reported as failed while a slow member has not answered yet. */
import { expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import { Cluster, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const FAULT = "simulation.flotilla.dev/fault";

test("a member that answers late after a suspension is waited for, as after a scheduling", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: ["m1", "m2"], pull: ["m2"], nodes: 1 }));
  const { client } = fleet;
  const policy = makePolicy("shop/web").selects("apps/v1", "Deployment", "web").duplicates("m1", "m2").build();
  policy.spec.suspension = { dispatching: true };
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(PropagationPolicy, "hub", policy);
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(1).build());
  await fleet.run(60_000);
  const applied = async () => {
    const key = { cluster: "hub", namespace: "shop", name: "web-deployment" };
    return findCondition((await client.get(ResourceBinding, key)).status?.conditions, "FullyApplied")?.status;
  };
  const setFault = (fault: string | null) =>
    client.patch(
      Cluster,
      { cluster: "hub", name: "m2" },
      { metadata: { annotations: { [FAULT]: fault } } },
      { type: "merge" },
    );

  await setFault("unreachable");
  await client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { suspension: null } },
    { type: "merge" },
  );
  await fleet.run(10_000);
  const meanwhile = await applied();
  await setFault(null);
  await fleet.run(60_000);

  expect([meanwhile, await applied()]).toEqual([undefined, "True"]);
});
