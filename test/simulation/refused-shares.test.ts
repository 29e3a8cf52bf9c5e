/** What commands say of the replicas of members that rejected their new share. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
});
afterEach(() => fleet.stop());

async function refuseUpdatesOn(cluster: string): Promise<void> {
  const registration = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "freeze" } };
  const rules = [{ apiGroups: ["apps"], apiVersions: ["*"], operations: ["UPDATE"], resources: ["deployments"] }];
  const validation = { expression: "object.spec.replicas == oldObject.spec.replicas", message: "change freeze" };
  const objects = [
    {
      ...registration,
      kind: "ValidatingAdmissionPolicy",
      spec: { matchConstraints: { resourceRules: rules }, validations: [validation] },
    },
    {
      ...registration,
      kind: "ValidatingAdmissionPolicyBinding",
      spec: { policyName: "freeze", validationActions: ["Deny"] },
    },
  ] as unknown as KubernetesObject[];
  const kinds = createKindResolver({ client: fleet.client, cluster });
  for (const object of objects) await fleet.client.create(await kinds.resolve(object), cluster, copy(object));
}

test("status and why show the new share of a member that rejected it, and what it runs", async () => {
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/web").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build();
  await client.create(PropagationPolicy, "hub", policy);
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.run(30_000);
  await refuseUpdatesOn("member1");

  const key = { cluster: "hub", namespace: "shop", name: "web" };
  await client.patch(Deployment, key, { spec: { replicas: 8 } }, { type: "merge" });
  await fleet.run(30_000);

  const [status, why] = [
    await runCommand(fleet, "status", "-n", "shop"),
    await runCommand(fleet, "why", "deployment/web", "-n", "shop"),
  ];
  expect((await client.get(Deployment, { ...key, cluster: "member1" })).spec.replicas).toBe(3);
  expect(status.text).toContain("member1=4 (runs 3) member2=4\n");
  expect(why.text).toMatch(/\n {2}member1: 4 replicas \(runs 3\), .*not applied: .*change freeze/);
  expect(why.text).toContain("\n  member2: 4 replicas, applied, healthy\n");
});
