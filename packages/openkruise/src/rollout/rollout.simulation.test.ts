/** Rollouts on a simulated member, after the e2e tests of kruise-rollout. */
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { StatefulSet } from "@flotilla/kubernetes";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { BatchRelease } from "../batchrelease/batchrelease-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { AdvancedDaemonSet } from "../daemonset/daemonset-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { Rollout } from "./rollout-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

type Canary = NonNullable<Rollout["spec"]["strategy"]["canary"]>;
type Steps = NonNullable<Canary["steps"]>;

const key = { cluster: MEMBER, namespace: NAMESPACE, name: "web" };
const CLONESET = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" };
const STEPS: Steps = [
  { replicas: "20%", pause: {} },
  { replicas: "60%", pause: {} },
  { replicas: "100%", pause: {} },
];

const makeRollout = (steps: Steps, workloadRef = CLONESET, annotations?: Record<string, string>): Rollout => ({
  apiVersion: "rollouts.kruise.io/v1beta1",
  kind: "Rollout",
  metadata: { name: "web", namespace: NAMESPACE, annotations },
  spec: { workloadRef, strategy: { canary: { steps } }, disabled: false },
});

async function start(steps: Steps = STEPS, annotations?: Record<string, string>): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 2 });
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(5));
  await member.client.create(Rollout, MEMBER, makeRollout(steps, CLONESET, annotations));
  await member.pass(20_000);
}

const setImage = async (image: string): Promise<void> => {
  await member.edit((spec) => ({ ...spec, template: makeWebTemplate(image) }));
  await member.pass(20_000);
};
const rollout = (): Promise<Rollout> => member.client.get(Rollout, key) as Promise<Rollout>;
const approve = async (): Promise<void> => {
  await member.client.patch(
    Rollout,
    key,
    { status: { canaryStatus: { currentStepState: "StepReady" } } },
    { type: "merge", subresource: "status" },
  );
  await member.pass(20_000);
};
const patch = async (change: JsonObject): Promise<void> => {
  await member.client.patch(Rollout, key, change, { type: "merge" });
  await member.pass(20_000);
};
const withImage = (image: string): number =>
  member.pods().filter(({ metadata, spec }) => !metadata.deletionTimestamp && spec.containers[0]?.image === image)
    .length;
const standing = async (): Promise<string> => {
  const { status } = await rollout();
  const progressing = status?.conditions?.find(({ type }) => type === "Progressing");
  return `${status?.phase} ${status?.currentStepIndex} ${status?.currentStepState} ${progressing?.reason ?? ""}`.trim();
};
const succeeded = async (): Promise<string | undefined> =>
  (await rollout()).status?.conditions?.find(({ type }) => type === "Succeeded")?.status;

test("a CloneSet is released step by step, each approved, and is given back at the end", async () => {
  await start();
  expect(await standing()).toBe("Healthy 3 Completed");

  await setImage("web:2");
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepPaused InRolling", 1]);
  expect((await member.cloneSet()).spec.updateStrategy?.rollingUpdate?.partition).toBe("80%");

  await approve();
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 2 StepPaused InRolling", 3]);

  await approve();
  expect([await standing(), withImage("web:2")]).toEqual(["Healthy 3 Completed Completed", 5]);
  expect(await succeeded()).toBe("True");
  const { metadata, spec } = await member.cloneSet();
  expect(metadata.annotations ?? {}).not.toHaveProperty(["rollouts.kruise.io/in-progressing"]);
  expect(metadata.annotations ?? {}).not.toHaveProperty(["batchrelease.rollouts.kruise.io/control-info"]);
  expect(spec.updateStrategy?.rollingUpdate?.partition ?? 0).toBe(0);
  expect(await member.list(BatchRelease)).toEqual([]);
});

test("a release that waits, and one that is complete, write nothing", async () => {
  await start();
  await setImage("web:2");
  const versions = async (): Promise<unknown[]> => [
    (await rollout()).metadata.resourceVersion,
    (await member.cloneSet()).metadata.resourceVersion,
    (await member.list(BatchRelease)).map(({ metadata }) => metadata.resourceVersion),
  ];
  const waiting = await versions();
  await member.pass(600_000);
  expect(await versions()).toEqual(waiting);

  await approve();
  await approve();
  const complete = await versions();
  await member.pass(600_000);
  expect(await versions()).toEqual(complete);
});

test("updated pods are labelled with the release and the step", async () => {
  await start();
  await setImage("web:2");
  await approve();

  const batches = member
    .pods()
    .filter(({ spec }) => spec.containers[0]?.image === "web:2")
    .map(({ metadata }) => Number(metadata.labels?.["rollouts.kruise.io/rollout-batch-id"]))
    .toSorted((a, b) => a - b);
  expect(batches).toEqual([1, 2, 2]);
});

test("a pause with a duration ends by itself", async () => {
  await start([
    { replicas: "20%", pause: { duration: 60 } },
    { replicas: "100%", pause: {} },
  ]);

  await setImage("web:2");
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepPaused InRolling", 1]);
  await member.pass(60_000);
  await member.pass(20_000);

  expect([await standing(), withImage("web:2")]).toEqual(["Healthy 2 Completed Completed", 5]);
});

describe("a release in progress", () => {
  test("returns at once when the template is the previous one", async () => {
    await start();
    await setImage("web:2");
    await approve();

    await setImage("web:1");
    await member.pass(20_000);

    expect([await standing(), withImage("web:1")]).toEqual(["Healthy 2 StepPaused Completed", 5]);
    expect(await succeeded()).toBe("False");
    expect(await member.list(BatchRelease)).toEqual([]);
  });

  test("returns in steps if the Rollout says so", async () => {
    await start(STEPS, { "rollouts.kruise.io/rollback-in-batch": "true" });
    await setImage("web:2");
    await approve();
    expect(withImage("web:2")).toBe(3);

    await setImage("web:1");
    expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepPaused InRolling", 2]);

    await approve();
    await approve();
    expect(withImage("web:1")).toBe(5);
  });

  test("begins again at the first step when the template changes again", async () => {
    await start();
    await setImage("web:2");
    await approve();

    await setImage("web:3");
    await member.pass(20_000);

    expect([await standing(), withImage("web:3")]).toEqual(["Progressing 1 StepPaused InRolling", 1]);
  });

  test("waits in a step whose pods cannot start, and returns with the previous template", async () => {
    await start();
    await setImage("web:broken");
    expect(await standing()).toBe("Progressing 1 StepUpgrade InRolling");

    await setImage("web:1");
    await member.pass(20_000);

    expect([await standing(), withImage("web:1")]).toEqual(["Healthy 1 StepUpgrade Completed", 5]);
  });

  test("jumps to the step that nextStepIndex names", async () => {
    await start();
    await setImage("web:2");

    await member.client.patch(
      Rollout,
      key,
      { status: { canaryStatus: { nextStepIndex: 3 } } },
      { type: "merge", subresource: "status" },
    );
    await member.pass(40_000);

    expect([await standing(), withImage("web:2")]).toEqual(["Healthy 3 Completed Completed", 5]);
  });

  test("is paused by the strategy, and continues after it", async () => {
    await start();
    await setImage("web:2");
    await patch({ spec: { strategy: { paused: true } } });
    await approve();
    expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepReady Paused", 1]);

    await patch({ spec: { strategy: { paused: false } } });

    expect([await standing(), withImage("web:2")]).toEqual(["Progressing 2 StepPaused InRolling", 3]);
  });

  test("is completed when the Rollout is disabled", async () => {
    await start();
    await setImage("web:2");

    await patch({ spec: { disabled: true } });

    expect([(await rollout()).status?.phase, withImage("web:2")]).toEqual(["Disabled", 5]);
    await setImage("web:3");
    expect(withImage("web:3")).toBe(5);
  });

  test("is completed when the Rollout is deleted", async () => {
    await start();
    await setImage("web:2");

    await member.client.delete(Rollout, key);
    await member.pass(30_000);

    expect([withImage("web:2"), await member.list(Rollout)]).toEqual([5, []]);
  });
});

const sets = {
  "an Advanced StatefulSet": [AdvancedStatefulSet, "apps.kruise.io/v1beta1"],
  "a native StatefulSet": [StatefulSet, "apps/v1"],
} as const;
test.each(Object.entries(sets))("%s is released by its ordinals", async (_name, [kind, apiVersion]) => {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 2 });
  const set = (image: string) => ({
    apiVersion,
    kind: "StatefulSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas: 5,
      serviceName: "web",
      podManagementPolicy: "Parallel",
      selector: { matchLabels: { app: "web" } },
      template: makeWebTemplate(image),
    },
  });
  await member.client.create(kind, MEMBER, set("web:1") as never);
  await member.client.create(Rollout, MEMBER, makeRollout(STEPS, { apiVersion, kind: "StatefulSet", name: "web" }));
  await member.pass(30_000);

  await member.client.patch(kind, key, { spec: { template: makeWebTemplate("web:2") } } as never, { type: "merge" });
  await member.pass(30_000);
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepPaused InRolling", 1]);

  await approve();
  await member.pass(30_000);
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 2 StepPaused InRolling", 3]);

  await approve();
  await member.pass(60_000);
  expect([await standing(), withImage("web:2")]).toEqual(["Healthy 3 Completed Completed", 5]);
});

test("an Advanced DaemonSet is released node by node", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 4 });
  const daemon = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: "web" } }, template: makeWebTemplate("web:1") },
  };
  await member.client.create(AdvancedDaemonSet, MEMBER, daemon);
  const ref = { apiVersion: "apps.kruise.io/v1alpha1", kind: "DaemonSet", name: "web" };
  await member.client.create(
    Rollout,
    MEMBER,
    makeRollout(
      [
        { replicas: "50%", pause: {} },
        { replicas: "100%", pause: {} },
      ],
      ref,
    ),
  );
  await member.pass(30_000);

  await member.client.patch(AdvancedDaemonSet, key, { spec: { template: makeWebTemplate("web:2") } } as never, {
    type: "merge",
  });
  await member.pass(30_000);
  expect([await standing(), withImage("web:2")]).toEqual(["Progressing 1 StepPaused InRolling", 2]);

  await approve();
  await member.pass(30_000);
  expect([await standing(), withImage("web:2")]).toEqual(["Healthy 2 Completed Completed", 4]);
});

const refused: Record<string, { rollout: Rollout; want: RegExp }> = {
  "blue-green": {
    rollout: { ...makeRollout([]), spec: { ...makeRollout([]).spec, strategy: { blueGreen: { steps: STEPS } } } },
    want: /a blue-green strategy on a simulated member is not supported by Flotilla yet/,
  },
  "a Deployment": {
    rollout: makeRollout(STEPS, { apiVersion: "apps/v1", kind: "Deployment", name: "web" }),
    want: /a Rollout of a Deployment on a simulated member is not supported by Flotilla yet/,
  },
  "routes of requests": {
    rollout: makeRollout([{ replicas: "20%", traffic: "20%" }]),
    want: /the routing of requests on a simulated member is not supported by Flotilla yet/,
  },
};
test.each(Object.entries(refused))(
  "rejects what no controller here carries out: %s",
  async (_name, { rollout, want }) => {
    member = await startKruiseMember({ customs: kruiseKinds, nodes: 1 });

    await expect(member.client.create(Rollout, MEMBER, rollout)).rejects.toThrow(want);
  },
);
