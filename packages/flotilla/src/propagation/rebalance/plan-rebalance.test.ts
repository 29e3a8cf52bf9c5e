import { expect, test } from "vitest";
import type { WorkloadRebalancer } from "@flotilla/karmada";
import { listWorkloads, needsTrigger, planStatus, timeLeftMs, type Observed, type Outcome } from "./plan-rebalance.ts";

const NOW = Date.parse("2024-05-01T12:00:00Z");
const workload = (name: string) => ({ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name });
const make = (names: string[], status?: WorkloadRebalancer["status"], ttl?: number): WorkloadRebalancer => ({
  apiVersion: "apps.karmada.io/v1alpha1",
  kind: "WorkloadRebalancer",
  metadata: { name: "r", generation: 2 },
  spec: { workloads: names.map(workload), ttlSecondsAfterFinished: ttl },
  status,
});
const after = (rebalancer: WorkloadRebalancer, outcomeOf: (name: string) => Outcome) => {
  const workloads = listWorkloads(rebalancer);
  return planStatus(
    rebalancer,
    workloads,
    new Map(workloads.map((item) => [item, outcomeOf(item.workload.name)])),
    NOW,
  );
};

test("workloads are listed once, in order; successful ones stay listed, failed ones are dropped with their workload", () => {
  const observedWorkloads: Observed[] = [
    { workload: workload("done"), result: "Successful" },
    { workload: workload("failed"), result: "Failed" },
    { workload: workload("kept"), result: "Failed" },
  ];

  expect(listWorkloads(make(["new", "kept", "new"], { observedWorkloads }))).toEqual([
    { workload: workload("done"), result: "Successful" },
    { workload: workload("kept"), result: "Failed" },
    { workload: workload("new") },
  ]);
});

test("a rebalancer is finished when every workload has a result", () => {
  expect(after(make(["a", "b"]), (name) => (name === "a" ? "Successful" : "NotFound"))).toEqual({
    observedGeneration: 2,
    finishTime: "2024-05-01T12:00:00Z",
    observedWorkloads: [
      { workload: workload("a"), result: "Successful" },
      { workload: workload("b"), result: "Failed", reason: "ReferencedBindingNotFound" },
    ],
  });
});

test("a rebalancer is not finished while a workload must be retried", () => {
  expect(after(make(["a", "b"]), (name) => (name === "a" ? "Successful" : undefined))).toEqual({
    observedGeneration: 2,
    observedWorkloads: [{ workload: workload("a"), result: "Successful" }, { workload: workload("b") }],
  });
});

test("a finished rebalancer keeps its status", () => {
  const status = {
    observedGeneration: 2,
    finishTime: "2024-05-01T11:00:00Z",
    observedWorkloads: [{ workload: workload("a"), result: "Successful" }],
  };

  expect(after(make(["a"], status), () => undefined)).toBe(status);
});

test.each([
  { ttl: undefined, finishTime: "2024-05-01T11:59:00Z", want: undefined },
  { ttl: 90, finishTime: undefined, want: undefined },
  { ttl: 90, finishTime: "2024-05-01T11:59:00Z", want: 30_000 },
  { ttl: 0, finishTime: "2024-05-01T11:59:00Z", want: 0 },
])("with ttlSecondsAfterFinished $ttl, finished at $finishTime, $want ms are left", ({ ttl, finishTime, want }) => {
  expect(timeLeftMs(make(["a"], undefined, ttl), finishTime ? { finishTime } : {}, NOW)).toBe(want);
});

test("an older trigger does not replace a newer one", () => {
  expect(needsTrigger(undefined, "2024-05-01T12:00:00Z")).toBe(true);
  expect(needsTrigger("2024-05-01T11:00:00Z", "2024-05-01T12:00:00Z")).toBe(true);
  expect(needsTrigger("2024-05-01T12:00:00Z", "2024-05-01T12:00:00Z")).toBe(false);
});
