/** Autoscalers on a simulated member whose pod usage is set by the test. */
import { afterEach, describe, expect, test } from "vitest";
import { Deployment } from "../deployment/deployment-kind.ts";
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createDeploymentController } from "../deployment/deployment-controller.ts";
import { createReplicaSetController } from "../replicaset/replicaset-controller.ts";
import { createAutoscalerController } from "./horizontalpodautoscaler-controller.ts";

const stops: TestMember[] = [];
afterEach(async () => {
  for (const member of stops.splice(0)) await member.stop();
});

/** Usage of every pod in thousandths of a core. */
async function startMember(load: { cpu: number }): Promise<TestMember> {
  const podUsage = () => ({
    cpu: load.cpu,
    memory: 64 * 2 ** 20,
    containers: [{ name: "main", cpu: load.cpu, memory: 64 * 2 ** 20 }],
  });
  const member = await startTestMember({
    controllers(deps) {
      indexByController(deps.informers);
      return [
        createDeploymentController(deps),
        createReplicaSetController(deps),
        createAutoscalerController({
          ...deps,
          usage: { podUsage: (_cluster, pod) => (pod.status?.phase === "Running" ? podUsage() : undefined) },
        }),
      ];
    },
  });
  stops.push(member);
  await member.client.create(Deployment, MEMBER, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } }] },
      },
    },
  });
  await member.pass(30_000);
  return member;
}

type Spec = HorizontalPodAutoscaler["spec"];
const cpu = (averageUtilization: number): NonNullable<Spec["metrics"]> => [
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } },
];

function makeAutoscaler(spec: Partial<Spec> = {}): HorizontalPodAutoscaler {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: cpu(50),
      ...spec,
    },
  };
}

const replicas = async (member: TestMember): Promise<number | undefined> =>
  (await member.get(Deployment, "web")).spec.replicas;
const statusOf = async (member: TestMember) => (await member.get(HorizontalPodAutoscaler, "web")).status;
const conditionsOf = async (member: TestMember): Promise<string[]> =>
  ((await statusOf(member))?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe("An autoscaler", () => {
  test("scales up a workload above its target", async () => {
    const load = { cpu: 75 };
    const member = await startMember(load);

    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler());
    await member.pass(5_000);
    load.cpu = 50;
    await member.pass(60_000);

    expect(await replicas(member)).toBe(3);
    expect(await statusOf(member)).toMatchObject({
      currentReplicas: 3,
      desiredReplicas: 3,
      lastScaleTime: "2024-05-01T12:00:30Z",
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 50, averageValue: "50m" } } },
      ],
    });
    expect(await conditionsOf(member)).toEqual([
      "AbleToScale=True ReadyForNewScale",
      "ScalingActive=True ValidMetricFound",
      "ScalingLimited=False DesiredWithinRange",
    ]);
    expect(member.events).toContain(
      "HorizontalPodAutoscaler/web Normal SuccessfulRescale: New size: 3; reason: cpu resource utilization (percentage of request) above target",
    );
  });

  test("does nothing within its tolerance", async () => {
    const member = await startMember({ cpu: 54 });
    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler());

    await member.pass(60_000);

    expect(await replicas(member)).toBe(2);
  });

  test("scales up at most by a factor of two, and stops at maxReplicas", async () => {
    const member = await startMember({ cpu: 500 });

    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler({ maxReplicas: 6 }));
    await member.pass(5_000);
    const first = await replicas(member);
    const limited = await conditionsOf(member);
    await member.pass(30_000);

    expect(first).toBe(4);
    expect(limited[2]).toBe("ScalingLimited=True ScaleUpLimit");
    expect(await replicas(member)).toBe(6);
    expect((await conditionsOf(member))[2]).toBe("ScalingLimited=True TooManyReplicas");
  });

  test("scales down only after the load was lower for five minutes", async () => {
    const load = { cpu: 50 };
    const member = await startMember(load);
    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler());
    await member.pass(60_000);

    load.cpu = 10;
    await member.pass(240_000);
    const early = [await replicas(member), (await conditionsOf(member))[0]];
    await member.pass(120_000);

    expect(early).toEqual([2, "AbleToScale=True ScaleDownStabilized"]);
    expect(await replicas(member)).toBe(1);
    expect(member.events).toContain(
      "HorizontalPodAutoscaler/web Normal SuccessfulRescale: New size: 1; reason: All metrics below target",
    );
  });

  test("follows the rates of its behavior", async () => {
    const member = await startMember({ cpu: 500 });

    await member.client.create(
      HorizontalPodAutoscaler,
      MEMBER,
      makeAutoscaler({ behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } } }),
    );
    const sizes: (number | undefined)[] = [];
    for (let minute = 0; minute < 3; minute++) {
      await member.pass(minute === 0 ? 30_000 : 60_000);
      sizes.push(await replicas(member));
    }

    expect(sizes).toEqual([3, 4, 5]);
  });

  test("scales by the average of a container", async () => {
    const member = await startMember({ cpu: 90 });

    await member.client.create(
      HorizontalPodAutoscaler,
      MEMBER,
      makeAutoscaler({
        metrics: [
          {
            type: "ContainerResource",
            containerResource: {
              name: "cpu",
              container: "main",
              target: { type: "AverageValue", averageValue: "60m" },
            },
          },
        ],
      }),
    );
    await member.pass(5_000);

    expect(await replicas(member)).toBe(3);
  });

  const refused: Record<string, { spec: Partial<Spec>; want: string }> = {
    "its metric needs an API that is not available": {
      spec: {
        metrics: [
          {
            type: "Pods",
            pods: { metric: { name: "requests" }, target: { type: "AverageValue", averageValue: "10" } },
          },
        ],
      },
      want: "ScalingActive=False FailedGetPodsMetric",
    },
    "its metric is external": {
      spec: {
        metrics: [
          { type: "External", external: { metric: { name: "queue" }, target: { type: "Value", value: "10" } } },
        ],
      },
      want: "ScalingActive=False FailedGetExternalMetric",
    },
    "the pods do not request the resource": {
      spec: {
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 50 } } },
        ],
      },
      want: "ScalingActive=False FailedGetResourceMetric",
    },
    "its target does not exist": {
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "missing" } },
      want: "AbleToScale=False FailedGetScale",
    },
  };
  for (const [what, { spec, want }] of Object.entries(refused)) {
    test(`reports that it cannot scale because ${what}`, async () => {
      const member = await startMember({ cpu: 90 });

      await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler(spec));
      await member.pass(5_000);

      expect(await conditionsOf(member)).toContain(want);
      expect(await replicas(member)).toBe(2);
    });
  }

  test("ignores a workload with zero replicas", async () => {
    const member = await startMember({ cpu: 90 });
    await member.change(Deployment, "web", (deployment) => ({
      ...deployment,
      spec: { ...deployment.spec, replicas: 0 },
    }));
    await member.pass(40_000);

    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler());
    await member.pass(60_000);

    expect(await replicas(member)).toBe(0);
    expect(await conditionsOf(member)).toContain("ScalingActive=False ScalingDisabled");
  });

  test("writes nothing while the load is steady", async () => {
    const member = await startMember({ cpu: 50 });
    await member.client.create(HorizontalPodAutoscaler, MEMBER, makeAutoscaler());
    await member.pass(60_000);
    member.writes.reset();

    await member.pass(600_000);

    expect(member.writes.counts()).toEqual([]);
  });
});
