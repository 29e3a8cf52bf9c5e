import type { FederatedHpa, ResourceBinding } from "@flotilla/karmada";
import type { PodUsage, ReadonlyPod } from "@flotilla/kubernetes";
import { describe, expect, test } from "vitest";
import type { MemberFigures } from "./member-figures.ts";
import { isDividedBinding, planFederatedScaling, targetsOfBinding } from "./plan-federated-scaling.ts";
import type { FederatedScalingInput } from "./plan-federated-scaling.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");

const pod = (name: string): ReadonlyPod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop" },
  spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "1" } } }] },
  status: {
    phase: "Running",
    startTime: "2026-05-01T08:00:00Z",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-05-01T08:01:00Z" }],
  },
});
const usage = (cpu: number): PodUsage => ({ cpu, memory: 0, containers: [{ name: "web", cpu, memory: 0 }] });

/** A member whose pods each use so many thousandths of the CPU that they request. */
function member(cluster: string, replicas: number, milli: number): MemberFigures {
  const names = Array.from({ length: replicas }, (_, index) => `${cluster}-${index}`);
  return {
    cluster,
    replicas,
    pods: names.map(pod),
    usage: new Map(names.map((name) => [name, usage(milli)])),
    podValues: new Map(),
    values: new Map(),
    problems: [],
  };
}
const lost = (cluster: string, replicas: number): MemberFigures => ({
  cluster,
  replicas,
  podValues: new Map(),
  values: new Map(),
  problems: ["pods: it did not answer within 5 s"],
});

function scale(
  figures: readonly MemberFigures[],
  { policy, replicas, isDivided = true }: { policy?: string; replicas: number; isDivided?: boolean },
) {
  const autoscaler: FederatedHpa = {
    apiVersion: "autoscaling.karmada.io/v1alpha1",
    kind: "FederatedHPA",
    metadata: {
      name: "web",
      namespace: "shop",
      annotations: policy === undefined ? {} : { "flotilla.dev/missing-metrics": policy },
    },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 20,
      // The defaults, but for the stabilization that would hide each scaling down.
      behavior: {
        scaleUp: { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
        scaleDown: {
          selectPolicy: "Max",
          stabilizationWindowSeconds: 0,
          policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
        },
      },
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
    },
  };
  return planFederatedScaling({
    autoscaler,
    figures,
    isDivided,
    scale: { replicas, selector: "app=web" } as FederatedScalingInput["scale"],
    history: { recommendations: [], ups: [], downs: [] },
    nowMs: NOW_MS,
  });
}

describe("a FederatedHPA", () => {
  const cases: Record<
    string,
    {
      figures: MemberFigures[];
      policy?: string;
      replicas: number;
      isDivided?: boolean;
      want: number | undefined;
      says?: string;
    }
  > = {
    "adds up the pods of all members": {
      figures: [member("oslo", 2, 1_000), member("paris", 2, 500)],
      replicas: 4,
      want: 6,
    },
    "keeps its size within a tenth of the target": {
      figures: [member("oslo", 2, 540), member("paris", 2, 500)],
      replicas: 4,
      want: 4,
    },
    "sizes one member where all run the same replicas": {
      figures: [member("oslo", 2, 1_000), member("paris", 2, 1_000)],
      replicas: 2,
      isDivided: false,
      want: 4,
    },
    "keeps the size that its pods need while a quota keeps the placed replicas below it": {
      figures: [member("oslo", 2, 1_000), member("paris", 2, 1_000)],
      replicas: 8,
      want: 8,
    },
    "keeps the size that its pods need while members that run all replicas each have fewer": {
      figures: [member("oslo", 2, 1_000), member("paris", 2, 1_000)],
      replicas: 4,
      isDivided: false,
      want: 4,
    },
    "sizes one member with ignore while another that runs all replicas is lost": {
      figures: [member("oslo", 2, 1_000), lost("paris", 2)],
      policy: "ignore",
      replicas: 2,
      isDivided: false,
      want: 4,
    },
    "stays at zero replicas": { figures: [], replicas: 0, want: 0, says: "scaling is disabled" },
    "counts the pods of a lost member as unused when it scales up": {
      figures: [member("oslo", 2, 1_500), lost("paris", 2)],
      replicas: 4,
      want: 6,
      says: "not read: paris (pods: it did not answer within 5 s)",
    },
    "counts the pods of a lost member as fully used when it scales down": {
      figures: [member("oslo", 8, 50), lost("paris", 2)],
      replicas: 10,
      want: 5,
      says: "not read: paris",
    },
    "does not scale down when a lost member may need its pods": {
      figures: [member("oslo", 2, 100), lost("paris", 6)],
      replicas: 8,
      want: 8,
      says: "not read: paris",
    },
    "does not scale up when a lost member alone could explain it": {
      figures: [member("oslo", 2, 600), lost("paris", 6)],
      replicas: 8,
      want: 8,
    },
    "takes an unknown policy as conservative": {
      figures: [member("oslo", 2, 1_500), lost("paris", 2)],
      policy: "ignroe",
      replicas: 4,
      want: 6,
    },
    "lets the other members stand for a lost one with ignore": {
      figures: [member("oslo", 2, 1_000), lost("paris", 2)],
      policy: "ignore",
      replicas: 4,
      want: 8,
      says: "not read: paris",
    },
    "is not scaled with hold while a member is lost": {
      figures: [member("oslo", 2, 1_500), lost("paris", 2)],
      policy: "hold",
      replicas: 4,
      want: undefined,
      says: "because flotilla.dev/missing-metrics is hold: paris (pods: it did not answer within 5 s)",
    },
    "is scaled with hold while all members answer": {
      figures: [member("oslo", 2, 1_000)],
      policy: "hold",
      replicas: 2,
      want: 4,
    },
    "keeps its size when no member answers": {
      figures: [lost("oslo", 2), lost("paris", 2)],
      replicas: 4,
      want: undefined,
      says: "not read: oslo (pods: it did not answer within 5 s); paris (pods: it did not answer within 5 s)",
    },
    "is limited by its maximum however much is used": {
      figures: [member("oslo", 2, 1_000_000_000)],
      replicas: 8,
      want: 16,
    },
  };
  for (const [behaviour, { figures, want, says = "", ...input }] of Object.entries(cases))
    test(behaviour, () => {
      const { desired, conditions } = scale(figures, input);

      expect(desired).toBe(want);
      expect(conditions.find(({ type }) => type === "ScalingActive")?.message ?? "").toContain(says);
    });
});

test("a condition names five members and counts the others", () => {
  const figures = ["a", "b", "c", "d", "e", "f", "g"].map((name) => lost(name, 1));

  const { events } = scale(figures, { policy: "hold", replicas: 7 });

  expect(events[0]?.message).toMatch(/: a \(pods: .*; e \(pods: it did not answer within 5 s\); 2 more$/);
});

const bindingOf = (spec: Partial<ResourceBinding["spec"]>): ResourceBinding => ({
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: { name: "web-deployment", namespace: "shop" },
  spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, ...spec },
});

test("targets of a binding without replicas of their own have those of the template", () => {
  const clusters = [{ name: "oslo" }, { name: "paris", replicas: 0 }];

  expect(targetsOfBinding(bindingOf({ replicas: 3, clusters }), 5)).toEqual([
    { name: "oslo", replicas: 3 },
    { name: "paris", replicas: 0 },
  ]);
  expect(targetsOfBinding(bindingOf({ clusters: [{ name: "oslo" }] }), 5)).toEqual([{ name: "oslo", replicas: 5 }]);
  expect(targetsOfBinding(bindingOf({ replicas: 3 }), 5)).toEqual([]);
});

test("only replicas that a rule counts are divided", () => {
  const placement = { replicaScheduling: { replicaSchedulingType: "Divided" } } as const;

  expect(isDividedBinding(bindingOf({ replicas: 3, placement }))).toBe(true);
  expect(isDividedBinding(bindingOf({ placement }))).toBe(false);
  expect(isDividedBinding(bindingOf({ replicas: 3 }))).toBe(false);
});
