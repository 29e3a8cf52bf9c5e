/** A Rollout of kruise-rollout on the hub: its steps count the pods of the fleet. */
import { afterEach, expect, test } from "vitest";
import { FleetRollout } from "@flotilla/flotilla";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { CloneSet, Rollout } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";
import { releaseImage, startShop, WEB as web } from "./shop-fleet.ts";

const WEIGHTS = { member1: 1, member2: 2 };

let fleet: TestFleet;
afterEach(() => fleet.stop());

const STEPS: Steps = [{ replicas: "20%", pause: {} }, { replicas: "50%", pause: {} }, { replicas: "100%" }];
type Canary = NonNullable<Rollout["spec"]["strategy"]["canary"]>;
type Steps = NonNullable<Canary["steps"]>;

async function start(canary: Canary = { steps: STEPS }): Promise<void> {
  const policy = makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").weights(WEIGHTS);
  fleet = await startShop(Object.keys(WEIGHTS), policy.build());
  await fleet.client.create(Rollout, "hub", {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "Rollout",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      strategy: { canary },
      disabled: false,
    },
  });
  const cloneSet = makeCloneSet("shop/web")
    .replicas(9)
    .with(({ spec }) => {
      spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy: "ReCreate" } } as never;
    })
    .build();
  await fleet.client.create(CloneSet, "hub", cloneSet);
  await fleet.run(20_000);
}

const release = (image: string, fault?: string): Promise<unknown> => releaseImage(fleet.client, CloneSet, image, fault);

const rollout = (): Promise<Rollout> => fleet.client.get(Rollout, web) as Promise<Rollout>;
/** As `kubectl-kruise rollout approve` does. */
const approve = (): Promise<unknown> =>
  fleet.client.patch(
    Rollout,
    web,
    { status: { currentStepState: "StepReady", canaryStatus: { currentStepState: "StepReady" } } },
    { type: "merge", subresource: "status" },
  );

/** The pods of each member with an image. */
async function withImage(image: string): Promise<number[]> {
  return await Promise.all(
    Object.keys(WEIGHTS).map(async (cluster) => {
      const { items } = await fleet.client.list(Pod, { cluster, namespace: "shop" });
      return items.filter(({ metadata, spec }) => !metadata.deletionTimestamp && spec.containers[0]?.image === image)
        .length;
    }),
  );
}
const releases = async (): Promise<FleetRollout[]> =>
  (await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "shop" })).items.toSorted(
    (a, b) => a.spec.number - b.spec.number,
  ) as FleetRollout[];
const condition = async (type: string): Promise<string | undefined> => {
  const found = (await rollout()).status?.conditions?.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}`;
};

test("its steps update pods of the fleet, and each pause is approved on the hub", async () => {
  await start();
  expect(await rollout()).toMatchObject({ status: { phase: "Healthy", currentStepState: "Completed" } });

  await release("web:2");
  await fleet.run(20_000);
  expect(await withImage("web:2")).toEqual([1, 1]);
  expect(await rollout()).toMatchObject({
    status: {
      phase: "Progressing",
      currentStepIndex: 1,
      currentStepState: "StepPaused",
      canaryStatus: { nextStepIndex: 2, canaryReplicas: 2, canaryReadyReplicas: 2 },
    },
  });
  expect(await condition("FleetWide")).toBe("True StepsOverTheFleet");

  await approve();
  await fleet.run(20_000);
  expect((await withImage("web:2")).reduce((sum, count) => sum + count)).toBe(5);
  expect(await rollout()).toMatchObject({ status: { currentStepIndex: 2, currentStepState: "StepPaused" } });

  await approve();
  await fleet.run(20_000);
  expect(await withImage("web:2")).toEqual([3, 6]);
  expect(await rollout()).toMatchObject({ status: { phase: "Healthy", currentStepState: "Completed" } });
  expect(await condition("Succeeded")).toBe("True Completed");
  expect((await fleet.client.list(Rollout, { cluster: "member1", namespace: "shop" })).items).toEqual([]);

  fleet.resetWrites();
  await fleet.run(600_000);
  expect(fleet.writes()).toEqual([]);
});

test("a newer template starts again at the first step, one whose pods cannot start stops there, and the previous template returns without steps", async () => {
  await start();
  await release("web:2");
  await fleet.run(20_000);

  await approve();
  await fleet.run(20_000);
  await release("web:3", "image-pull-error");
  await fleet.run(40_000);
  expect(await rollout()).toMatchObject({ status: { phase: "Progressing", currentStepIndex: 1 } });
  expect(await condition("Progressing")).toBe("True Paused");
  expect((await rollout()).status?.message).toContain("updated pods are unhealthy");
  expect((await withImage("web:3")).reduce((sum, count) => sum + count)).toBe(2);

  await release("web:1");
  await fleet.run(40_000);
  expect(await withImage("web:1")).toEqual([3, 6]);
  expect(await condition("Succeeded")).toBe("False Completed");
  expect((await releases()).map(({ status }) => status?.phase)).toEqual([
    "Succeeded",
    "Superseded",
    "Superseded",
    "Succeeded",
  ]);
});

test("an aborted release returns, and the previous template ends it without steps", async () => {
  await start();
  await release("web:2");
  await fleet.run(20_000);

  const aborted = await runCommand(fleet, "rollout", "abort", "rollout/web", "-n", "shop");
  expect(aborted.code).toBe(0);
  await fleet.run(40_000);
  expect(await withImage("web:1")).toEqual([3, 6]);
  expect((await rollout()).status?.message).toContain("not the template of the hub");

  await release("web:1");
  await fleet.run(20_000);

  expect(await rollout()).toMatchObject({ status: { phase: "Healthy" } });
  expect(await condition("Succeeded")).toBe("False Completed");
});

test("pause and resume of the command steer a release that a Rollout leads", async () => {
  await start();
  await release("web:2");
  await fleet.run(20_000);
  await fleet.client.patch(Rollout, web, { spec: { strategy: { paused: true } } }, { type: "merge" });
  await approve();
  await fleet.run(20_000);
  expect(await condition("Progressing")).toBe("True Paused");
  expect((await withImage("web:2")).reduce((sum, count) => sum + count)).toBe(2);

  await runCommand(fleet, "rollout", "resume", "rollout/web", "-n", "shop");
  await fleet.run(20_000);

  expect((await withImage("web:2")).reduce((sum, count) => sum + count)).toBe(5);
  expect((await rollout()).spec.strategy.paused ?? false).toBe(false);
});

test("a Rollout with routes of requests holds changes back, and says so", async () => {
  await start({
    steps: [{ replicas: "20%", traffic: "20%", pause: {} }, { replicas: "100%" }],
    trafficRoutings: [{ service: "web", ingress: { name: "web" } }],
  });

  await release("web:2");
  await fleet.run(20_000);

  expect(await withImage("web:1")).toEqual([3, 6]);
  expect(await condition("FleetWide")).toBe("False CannotBeCarriedOver");
  const why = await runCommand(fleet, "why", "cloneset/web", "-n", "shop");
  expect(why.text).toContain("is not released: the Rollout web asks for trafficRoutings");
  expect(await rollout()).toMatchObject({ status: { phase: "Progressing", currentStepState: "BeforeStepUpgrade" } });
});

test("a disabled Rollout completes its release without waiting", async () => {
  await start();
  await release("web:2");
  await fleet.run(20_000);

  await fleet.client.patch(Rollout, web, { spec: { disabled: true } }, { type: "merge" });
  await fleet.run(40_000);

  expect(await withImage("web:2")).toEqual([3, 6]);
  expect(await rollout()).toMatchObject({ status: { phase: "Disabled" } });
});

test("a jump of nextStepIndex opens the steps in between, and a step that is done is not returned to", async () => {
  await start();
  await release("web:2");
  await fleet.run(20_000);

  await fleet.client.patch(
    Rollout,
    web,
    { status: { canaryStatus: { nextStepIndex: 3 } } },
    { type: "merge", subresource: "status" },
  );
  await fleet.run(40_000);

  expect(await withImage("web:2")).toEqual([3, 6]);
});

test("a Rollout that a policy selects is copied, and each member releases its own pods", async () => {
  fleet = await startTestFleet({ members: Object.keys(WEIGHTS), nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  for (const [name, apiVersion, kind] of [
    ["all", "apps.kruise.io/v1beta1", "CloneSet"],
    ["steps", "rollouts.kruise.io/v1beta1", "Rollout"],
  ] as const)
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy(`shop/${name}`).selects(apiVersion, kind).weights(WEIGHTS).build(),
    );
  await fleet.client.create(
    CloneSet,
    "hub",
    makeCloneSet("shop/web")
      .replicas(9)
      .with(({ metadata, spec }) => {
        metadata.annotations = { "flotilla.dev/drift": "report" };
        spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy: "ReCreate" } } as never;
      })
      .build(),
  );
  await fleet.client.create(Rollout, "hub", {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "Rollout",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
      strategy: { canary: { steps: [{ replicas: "50%", pause: { duration: 60 } }, { replicas: "100%" }] } },
      disabled: false,
    },
  });
  await fleet.run(20_000);

  await release("web:2");
  await fleet.run(40_000);
  expect(await withImage("web:2")).toEqual([2, 3]);
  expect(await rollout()).toMatchObject({ status: { phase: "Progressing", currentStepIndex: 1 } });
  expect((await releases()).filter(({ spec }) => spec.previous !== undefined)).toEqual([]);

  await fleet.run(90_000);
  expect(await withImage("web:2")).toEqual([3, 6]);
  expect(await rollout()).toMatchObject({ status: { phase: "Healthy" } });
});
