/** Conditions of members on the hub's object, so that `kubectl wait --for=condition=…` works there. */
import { expect, test } from "vitest";
import { OverridePolicy, PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { Deployment, Job, Namespace, Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

const MINUTE_MS = 60_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };

async function start(): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"], nodes: 3 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .selects("batch/v1", "Job")
    .weights({ member1: 1, member2: 1 });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.run(1_000);
  return fleet;
}

interface Shown {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}
const shown = ({ status }: { status?: { conditions?: readonly Shown[] } }): string[] =>
  (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);

const NEVER_READY = { "simulation.flotilla.dev/fault": "never-ready" };

/** Pods on member2 never become ready. */
const breakMember2 = (fleet: TestFleet): Promise<unknown> =>
  fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "broken", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["member2"] },
          overriders: {
            plaintext: [{ path: "/spec/template/metadata/annotations", operator: "add", value: NEVER_READY }],
          },
        },
      ],
    },
  });

test("a Deployment on the hub is Available, and has progressed, once this is so on every member", async () => {
  const fleet = await start();

  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(10_000);

  expect((await fleet.client.get(Deployment, web)).status?.conditions).toMatchObject([
    {
      type: "Available",
      status: "True",
      reason: "MinimumReplicasAvailable",
      message: "Deployment has minimum availability.",
    },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ]);
});

test("a condition names the member on which it is not true, and its time changes only with its status", async () => {
  const fleet = await start();
  await breakMember2(fleet);
  const available = async (): Promise<Shown | undefined> =>
    (await fleet.client.get(Deployment, web)).status?.conditions?.find(({ type }) => type === "Available");

  await fleet.client.create(
    Deployment,
    "hub",
    makeDeployment("shop/web")
      .replicas(4)
      .with(({ spec }) => (spec.progressDeadlineSeconds = 60))
      .build(),
  );
  await fleet.run(10_000);
  const early = await available();
  await fleet.run(3 * MINUTE_MS);

  expect(shown(await fleet.client.get(Deployment, web))).toEqual([
    "Available=False MinimumReplicasUnavailable",
    "Progressing=False ProgressDeadlineExceeded",
  ]);
  expect(await available()).toMatchObject({
    message: "not True on member2 (Deployment does not have minimum availability.)",
    lastTransitionTime: early?.lastTransitionTime,
  });
});

test("a CloneSet on the hub has the Progressing condition of its members", async () => {
  const fleet = await start();
  const cloneSet = makeCloneSet("shop/web")
    .replicas(4)
    .with(({ spec }) => (spec.progressDeadlineSeconds = 60));

  await fleet.client.create(CloneSet, "hub", cloneSet.build());
  await fleet.run(10_000);

  expect(shown(await fleet.client.get(CloneSet, web))).toEqual(["Progressing=True CloneSetAvailable"]);
});

test("a Pod on the hub is Ready once it is so on every member, 'flotilla wait' ends, and nothing more is written", async () => {
  const fleet = await start();
  const policy = makePolicy("shop/pods").selects("v1", "Pod").build();
  await fleet.client.create(PropagationPolicy, "hub", policy);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "shop", name: "web" },
    spec: { containers: [{ name: "web", image: "web:1" }] },
  };

  await fleet.client.create(Pod, "hub", pod);
  await fleet.run(10_000);
  const waited = runCommand(fleet, "wait", "pod/web", "-n", "shop", "--timeout", "5s");
  await fleet.run(10_000);
  const first = await fleet.client.get(Pod, web);
  await fleet.run(MINUTE_MS);

  expect(await waited).toMatchObject({ code: 0 });
  expect(first.status?.conditions).toContainEqual({
    type: "Ready",
    status: "True",
    lastTransitionTime: expect.stringMatching(/Z$/) as unknown,
  });
  expect((await fleet.client.get(Pod, web)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});

test("a user's AggregateStatus rule decides the whole status: no condition is added", async () => {
  const fleet = await start();
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "mine" },
    spec: {
      target: { apiVersion: "apps/v1", kind: "Deployment" },
      customizations: { statusAggregation: { luaScript: RULE } },
    },
  });
  await fleet.run(1_000);

  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(10_000);

  expect((await fleet.client.get(Deployment, web)).status).toMatchObject({ readyReplicas: 7 });
  expect(shown(await fleet.client.get(Deployment, web))).toEqual([]);
});

const RULE = `
function AggregateStatus(desiredObj, statusItems)
  desiredObj.status = { replicas = 7, readyReplicas = 7 }
  return desiredObj
end
`;

const job = (annotations: Record<string, string>, spec: object = {}): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    completions: 2,
    parallelism: 2,
    backoffLimit: 0,
    ...spec,
    template: {
      metadata: { annotations },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x:1" }] },
    },
  },
});

test("a Job that fails on its members is Failed on the hub, with FailureTarget", async () => {
  const fleet = await start();

  await fleet.client.create(Job, "hub", job({ "sim/run": "1", "sim/exit-code": "3" }));
  await fleet.run(MINUTE_MS);

  expect((await fleet.client.get(Job, web)).status).toMatchObject({
    failed: 2,
    conditions: [
      { type: "FailureTarget", status: "True", reason: "JobFailed" },
      {
        type: "Failed",
        status: "True",
        reason: "JobFailed",
        message: "Job executed failed in member clusters member1,member2",
      },
    ],
  });
});

test("a Job that has failed on one member is Failed on the hub when the other members are done", async () => {
  const fleet = await start();
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "slow", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "batch/v1", kind: "Job" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["member2"] },
          overriders: {
            plaintext: [{ path: "/spec/template/metadata/annotations", operator: "add", value: { "sim/run": "120" } }],
          },
        },
      ],
    },
  });

  await fleet.client.create(Job, "hub", job({ "sim/run": "1", "sim/exit-code": "3" }));
  await fleet.run(MINUTE_MS);
  const during = await fleet.client.get(Job, web);
  await fleet.run(2 * MINUTE_MS);

  expect(during.status).toMatchObject({ active: 1, failed: 1 });
  expect(shown(during)).toEqual(["FailureTarget=True JobFailed"]);
  const after = await fleet.client.get(Job, web);
  expect(after.status).toMatchObject({ succeeded: 1, failed: 1 });
  expect(shown(after)).toEqual(["FailureTarget=True JobFailed", "Failed=True JobFailed"]);
});

test("a Job that is suspended on every member is Suspended on the hub, until it is resumed", async () => {
  const fleet = await start();

  await fleet.client.create(Job, "hub", job({ "sim/run": "30" }, { suspend: true }));
  await fleet.run(10_000);
  const before = await fleet.client.get(Job, web);
  await fleet.client.patch(Job, web, { spec: { suspend: false } }, { type: "merge" });
  await fleet.run(10_000);
  const resumed = await fleet.client.get(Job, web);
  await fleet.run(MINUTE_MS);

  expect(shown(before)).toEqual(["Suspended=True JobSuspended"]);
  expect(shown(resumed)).toEqual(["Suspended=False JobResumed"]);
  expect(shown(await fleet.client.get(Job, web))).toEqual([
    "Complete=True Completed",
    "SuccessCriteriaMet=True CompletionsReached",
  ]);
});

test("a converged fleet with conditions writes nothing", async () => {
  const fleet = await start();
  await breakMember2(fleet);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.client.create(Job, "hub", job({ "sim/run": "1", "sim/exit-code": "3" }));
  await fleet.run(12 * MINUTE_MS);
  fleet.resetWrites();

  await fleet.run(MINUTE_MS);

  expect(fleet.writes()).toEqual([]);
});
