import { expect, test } from "vitest";
import { deepFreeze, type Json } from "@flotilla/base";
import { volcanoJobInterpreter } from "./job.ts";

const job = deepFreeze({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "train", namespace: "ml" },
});
const item = (clusterName: string, status: Json) => ({ clusterName, status });
const aggregate = (...items: ReturnType<typeof item>[]) => volcanoJobInterpreter.aggregateStatus?.(job, items).status;

test("each task is a component, counted by minAvailable, and may lack a name or a template", () => {
  const tasks: Json[] = [
    {
      name: "ps",
      replicas: 4,
      minAvailable: 2,
      template: { spec: { containers: [{ resources: { requests: { cpu: "1" } } }] } },
    },
    { replicas: 4 },
  ];

  expect(volcanoJobInterpreter.components?.({ ...job, spec: { tasks } })).toEqual([
    { name: "ps", replicas: 2, requirements: { resourceRequest: { cpu: "1" } } },
    { name: "task-1", replicas: 1 },
  ]);
});

test("the failed state has the time of the last member that failed", () => {
  const status = aggregate(
    item("oslo", { state: { phase: "Failed", lastTransitionTime: "2024-05-01T10:00:00Z" } }),
    item("paris", { state: { phase: "Aborted", lastTransitionTime: "2024-05-01T11:00:00Z" } }),
    item("rome", { state: { phase: "Running", lastTransitionTime: "2024-05-01T12:00:00Z" } }),
  );

  expect(status).toEqual({
    state: {
      phase: "Failed",
      reason: "VolcanoJobFailed",
      message: "Job failed in clusters: oslo,paris",
      lastTransitionTime: "2024-05-01T11:00:00Z",
    },
  });
});

test("aggregating again changes nothing", () => {
  const items = [
    item("oslo", { succeeded: 1, state: { phase: "Completed", lastTransitionTime: "2024-05-01T10:00:00Z" } }),
    item("paris", { succeeded: 2, state: { phase: "Completed" } }),
  ];
  const summed = volcanoJobInterpreter.aggregateStatus?.(job, items) ?? job;

  expect(volcanoJobInterpreter.aggregateStatus?.(summed, items)).toBe(summed);
});

test("uses the newest condition of each phase, and one without a time is the oldest", () => {
  const status = aggregate(
    item("oslo", {
      conditions: [{ status: "Pending" }, { status: "Running", lastTransitionTime: "2024-05-01T10:00:00Z" }],
    }),
    item("paris", {
      conditions: [
        { status: "Pending", lastTransitionTime: "2024-05-01T09:00:00Z" },
        { status: "Running" },
        { lastTransitionTime: "2024-05-01T08:00:00Z" },
      ],
    }),
  );

  expect(status).toEqual({
    conditions: [
      { status: "Pending", lastTransitionTime: "2024-05-01T09:00:00Z" },
      { status: "Running", lastTransitionTime: "2024-05-01T10:00:00Z" },
      { lastTransitionTime: "2024-05-01T08:00:00Z" },
    ],
  });
});

test("the longest duration wins regardless of units", () => {
  expect(
    aggregate(
      item("oslo", { runningDuration: "900ms" }),
      item("paris", { runningDuration: "1m1s" }),
      item("rome", { runningDuration: "61.5s" }),
    ),
  ).toEqual({ runningDuration: "61.5s" });
});

test("a task or resource may have the name of a prototype property", () => {
  const hostile = JSON.parse(
    '{"taskStatusCount":{"__proto__":{"phase":{"constructor":1}}},"controlledResources":{"__proto__":"u1"}}',
  ) as Json;

  const status = aggregate(item("oslo", hostile), item("paris", hostile));

  expect(JSON.stringify(status)).toBe(
    '{"taskStatusCount":{"__proto__":{"phase":{"constructor":2}}},"controlledResources":{"__proto__":"u1"}}',
  );
});
