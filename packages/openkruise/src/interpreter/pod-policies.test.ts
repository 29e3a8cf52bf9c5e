import { omitZero } from "@flotilla/base";
import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { persistentPodStateInterpreter } from "../persistentpodstate/persistentpodstate-interpreter.ts";
import { podProbeMarkerInterpreter } from "../podprobemarker/podprobemarker-interpreter.ts";
import { resourceDistributionInterpreter } from "../resourcedistribution/resourcedistribution-interpreter.ts";
import { workloadSpreadInterpreter } from "../workloadspread/workloadspread-interpreter.ts";
import { TEMPLATE_GENERATION } from "@flotilla/kubernetes";

const object = (status?: JsonObject): KubernetesObject => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "Policy",
  metadata: { name: "policy", generation: 2, annotations: { [TEMPLATE_GENERATION]: "2" } },
  ...omitZero({ status }),
});
const observed = { observedGeneration: 2, generation: 2, resourceTemplateGeneration: 2 };
const items = (...statuses: JsonObject[]): StatusItem[] =>
  statuses.map((status, index) => ({
    clusterName: ["oslo", "paris"][index] ?? "",
    status: { ...observed, ...status },
  }));

/** The same items must yield the identical template, so that a converged fleet writes nothing. */
function aggregate(rules: KindInterpreter, statuses: StatusItem[]): unknown {
  const once = rules.aggregateStatus?.(object(), statuses) ?? object();

  expect(rules.aggregateStatus?.(once, statuses)).toBe(once);
  return (once as { status?: unknown }).status;
}

const spread = workloadSpreadInterpreter as KindInterpreter;
const distribution = resourceDistributionInterpreter as KindInterpreter;
const full = { type: "Schedulable", status: "False" };

test("a WorkloadSpread sums each subset, and a subset without a limit has none in the sum", () => {
  const oslo = {
    subsetStatuses: [
      { name: "fixed", replicas: 3, missingReplicas: 1 },
      { name: "burst", replicas: 1, missingReplicas: -1 },
    ],
  };
  const paris: JsonObject = {
    subsetStatuses: [
      { name: "burst", replicas: 4, missingReplicas: -1 },
      { name: "fixed", replicas: 2, missingReplicas: 0, conditions: [full] },
    ],
  };

  expect(aggregate(spread, items(oslo, paris))).toEqual({
    observedGeneration: 2,
    subsetStatuses: [
      { name: "fixed", replicas: 5, missingReplicas: 1, conditions: [full] },
      { name: "burst", replicas: 5, missingReplicas: -1 },
    ],
  });
});

test("a WorkloadSpread does not report pods in creation or deletion", () => {
  const member = object({
    observedGeneration: 2,
    subsetStatuses: [
      { name: "fixed", replicas: 3, missingReplicas: 1, creatingPods: { "web-1": "2024-05-01T12:00:00Z" } },
    ],
  });

  expect(spread.reflectStatus?.(member)).toEqual({
    ...observed,
    subsetStatuses: [{ name: "fixed", replicas: 3, missingReplicas: 1 }],
  });
});

test("a ResourceDistribution fails if any member fails, and lists the namespaces", () => {
  const fine = {
    type: "ConflictOccurred",
    status: "False",
    reason: "Succeeded",
    lastTransitionTime: "2024-05-01T12:00:00Z",
  };
  const conflict = {
    type: "ConflictOccurred",
    status: "True",
    reason: "object exists",
    lastTransitionTime: "2024-05-01T11:00:00Z",
    failedNamespace: ["shop"],
  };

  expect(
    aggregate(
      distribution,
      items(
        { desired: 3, succeeded: 3, failed: 0, conditions: [fine] },
        { desired: 2, succeeded: 1, failed: 1, conditions: [conflict] },
      ),
    ),
  ).toEqual({
    observedGeneration: 2,
    desired: 5,
    succeeded: 4,
    failed: 1,
    conditions: [
      {
        type: "ConflictOccurred",
        status: "True",
        reason: "object exists",
        lastTransitionTime: "2024-05-01T11:00:00Z",
        failedNamespace: ["paris/shop"],
      },
    ],
  });
});

test("a PersistentPodState does not reflect recorded pods to the hub", () => {
  const rules = persistentPodStateInterpreter as KindInterpreter;

  expect(
    rules.reflectStatus?.(object({ observedGeneration: 2, podStates: { "db-0": { nodeName: "node-1" } } })),
  ).toEqual(observed);
  expect(aggregate(rules, items({}))).toEqual({ observedGeneration: 2 });
});

test("a PodProbeMarker counts the pods of all members, and its observed generation requires all members", () => {
  const rules = podProbeMarkerInterpreter as KindInterpreter;

  expect(aggregate(rules, items({ matchedPods: 2 }, { matchedPods: 3 }))).toEqual({
    observedGeneration: 2,
    matchedPods: 5,
  });
  expect(aggregate(rules, items({ matchedPods: 2 }, { matchedPods: 3, observedGeneration: 1 }))).toEqual({
    observedGeneration: 0,
    matchedPods: 5,
  });
});

const health: Record<string, { rules: KindInterpreter; status: JsonObject; want: boolean }> = {
  "a WorkloadSpread with room in some subset": {
    rules: spread,
    status: { observedGeneration: 2, subsetStatuses: [{ name: "a", conditions: [full] }, { name: "b" }] },
    want: true,
  },
  "a WorkloadSpread with room in no subset": {
    rules: spread,
    status: { observedGeneration: 2, subsetStatuses: [{ name: "a", conditions: [full] }] },
    want: false,
  },
  "a WorkloadSpread that is not observed": { rules: spread, status: { observedGeneration: 1 }, want: false },
  "a ResourceDistribution that reached every namespace": {
    rules: distribution,
    status: { observedGeneration: 2, failed: 0, conditions: [{ type: "ConflictOccurred", status: "False" }] },
    want: true,
  },
  "a ResourceDistribution with a conflict": {
    rules: distribution,
    status: { observedGeneration: 2, failed: 0, conditions: [{ type: "ConflictOccurred", status: "True" }] },
    want: false,
  },
};
for (const [which, { rules, status, want }] of Object.entries(health)) {
  test(`${which} is ${want ? "healthy" : "unhealthy"}`, () => {
    expect(rules.isHealthy?.(object(status))).toBe(want);
  });
}
