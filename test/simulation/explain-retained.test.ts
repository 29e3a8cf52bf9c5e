/** Commands on a workload on which a Retain rule of a user decides. */
import { expect, test } from "vitest";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { Deployment, HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;

test("what a Retain rule gives is not shown as the value of a member that does not have it yet", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"] }));
  const policy = makePolicy("default/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build();
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "one" },
    spec: {
      target: { apiVersion: "apps/v1", kind: "Deployment" },
      customizations: {
        retention: {
          luaScript: "function Retain(desiredObj, observedObj) desiredObj.spec.replicas = 1 return desiredObj end",
        },
      },
    },
  });
  await fleet.run(SETTLED_MS);

  const before = (await runCommand(fleet, "why", "deployment/web")).text;
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "default", name: "web" },
    { spec: { replicas: 6 } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  const after = (await runCommand(fleet, "why", "deployment/web")).text;

  expect(before).toContain(
    "the Retain rule of ResourceInterpreterCustomization one sets values on members: member1: spec.replicas is 2, and the rule gives 1, not written yet",
  );
  expect(before).toContain("  rule gives  spec.replicas: 2 → 1, when the hub next writes the copy");
  expect(before).not.toContain("spec.replicas is 1");
  expect(after).toContain("member1: spec.replicas is 1 instead of 3");
  expect(after).toContain("  on member   spec.replicas: 3 → 1");
  expect(after).toContain("the Retain rule of ResourceInterpreterCustomization one: the rule decides");
  expect(after).not.toContain("rule gives");
  expect(after).not.toContain("the member decides");
});

const AUTOSCALER = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "default" },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, minReplicas: 1, maxReplicas: 5 },
} as HorizontalPodAutoscaler;

const KEEPS = "desiredObj.spec.replicas = observedObj.spec.replicas return desiredObj";
const held: Record<string, { rule: string; autoscaler?: HorizontalPodAutoscaler; says?: string }> = {
  "that a rule keeps are named by status and doctor": {
    rule: KEEPS,
    says: "the Retain rule of ResourceInterpreterCustomization one keeps values of members: member1: spec.replicas is 2 instead of 3",
  },
  "that a rule sets are named by status and doctor": {
    rule: "desiredObj.spec.replicas = 1 return desiredObj",
    says: "the Retain rule of ResourceInterpreterCustomization one sets values on members: member1: spec.replicas is 1 instead of 3",
  },
  "that a rule leaves to an autoscaler of the member are not reported": { rule: KEEPS, autoscaler: AUTOSCALER },
};

test.each(Object.entries(held))("fewer replicas than asked %s", async (_, { rule, autoscaler, says }) => {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1"] }));
  const policy = makePolicy("default/all").selects("apps/v1", "Deployment").weights({ member1: 1 }).build();
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(2).build());
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "one" },
    spec: {
      target: { apiVersion: "apps/v1", kind: "Deployment" },
      customizations: { retention: { luaScript: `function Retain(desiredObj, observedObj) ${rule} end` } },
    },
  });
  await fleet.run(SETTLED_MS);
  if (autoscaler) await fleet.client.create(HorizontalPodAutoscaler, "member1", autoscaler);

  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "default", name: "web" },
    { spec: { replicas: 3 } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  for (const command of ["status", "doctor"]) {
    const text = (await runCommand(fleet, command)).text.replace(/\s+/g, " ");
    expect(/the Retain rule of .*? instead of 3/.exec(text)?.[0], command).toBe(says);
  }
});

test("a release that no member runs because a Retain rule keeps the image fails 'flotilla wait', and counts no updated pod", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"], nodes: 1 }));
  const policy = makePolicy("default/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build();
  const key = { cluster: "hub", namespace: "default", name: "web" };
  const keepsImage = (isKept: boolean): string => `function Retain(desiredObj, observedObj)
    ${isKept ? "desiredObj.spec.template.spec.containers[1].image = observedObj.spec.template.spec.containers[1].image" : ""}
    return desiredObj
  end`;
  const customizations = (isKept: boolean) => ({ retention: { luaScript: keepsImage(isKept) } });
  const wait = async (): Promise<unknown> => {
    const waited = runCommand(fleet, "wait", "deployment/web", "--timeout", "10s").catch(String);
    await fleet.run(SETTLED_MS);
    return waited;
  };
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(4).image("web:1").build());
  await fleet.run(SETTLED_MS);
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "one" },
    spec: { target: { apiVersion: "apps/v1", kind: "Deployment" }, customizations: customizations(true) },
  });
  await fleet.run(SETTLED_MS);
  expect(await wait()).toMatchObject({ code: 0 });

  const template = { spec: { containers: [{ name: "web", image: "web:2" }] } };
  await fleet.client.patch(Deployment, key, { spec: { template } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  const stopped = await wait();
  const updated = (await fleet.client.get(Deployment, key)).status?.updatedReplicas;
  await fleet.client.patch(
    ResourceInterpreterCustomization,
    { cluster: "hub", name: "one" },
    { spec: { customizations: customizations(false) } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect(stopped).toContain(
    "member1, member2 do not run this version: the Retain rule of ResourceInterpreterCustomization one keeps " +
      "images of the member: web is web:1 instead of web:2",
  );
  expect(updated).toBeUndefined();
  expect(await wait()).toMatchObject({ code: 0 });
  expect((await fleet.client.get(Deployment, key)).status?.updatedReplicas).toBe(4);
});
