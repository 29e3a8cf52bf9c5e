import { describe, expect, test } from "vitest";
import { activePodsOrder, deletionCost, isActive, isAvailable, nextAvailableInMs } from "./pod-state.ts";
import type { ReadonlyPod } from "./pod-state.ts";

const NOW = Date.UTC(2024, 4, 1, 12);

function makePod(
  name: string,
  fields: {
    annotations?: Record<string, string>;
    node?: string;
    phase?: string;
    readySince?: string;
    createdAt?: string;
    restarts?: number;
    deleted?: boolean;
  } = {},
): ReadonlyPod {
  const { annotations, node, phase = "Running", readySince, createdAt, restarts = 0, deleted } = fields;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      annotations,
      creationTimestamp: createdAt || undefined,
      deletionTimestamp: deleted ? "2024-05-01T12:00:00Z" : undefined,
    },
    spec: { containers: [], nodeName: node || undefined },
    status: {
      phase: phase as "Running",
      conditions: readySince ? [{ type: "Ready", status: "True", lastTransitionTime: readySince }] : [],
      containerStatuses: [{ name: "main", image: "", imageID: "", ready: true, restartCount: restarts }],
    },
  };
}

describe("a pod is available", () => {
  const cases: Record<string, { pod: ReadonlyPod; minReadySeconds: number; want: boolean }> = {
    "not before it is ready": { pod: makePod("p"), minReadySeconds: 0, want: false },
    "at once when no minimum is set": {
      pod: makePod("p", { readySince: "2024-05-01T12:00:00Z" }),
      minReadySeconds: 0,
      want: true,
    },
    "not exactly at minReadySeconds": {
      pod: makePod("p", { readySince: "2024-05-01T11:59:50Z" }),
      minReadySeconds: 10,
      want: false,
    },
    "when it was ready for longer than the minimum": {
      pod: makePod("p", { readySince: "2024-05-01T11:59:49Z" }),
      minReadySeconds: 10,
      want: true,
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, minReadySeconds, want }) => {
    expect(isAvailable(pod, minReadySeconds, NOW)).toBe(want);
  });

  test("the wait for availability ends just after minReadySeconds", () => {
    const pods = [
      makePod("a", { readySince: "2024-05-01T11:59:55Z" }),
      makePod("b", { readySince: "2024-05-01T11:59:58Z" }),
      makePod("c"),
    ];

    expect(nextAvailableInMs(pods, 10, NOW)).toBe(5_001);
    expect(isAvailable(pods[0] as ReadonlyPod, 10, NOW + 5_001)).toBe(true);
  });
});

test("finished and terminating pods are not active", () => {
  const pods = [
    makePod("running"),
    makePod("failed", { phase: "Failed" }),
    makePod("done", { phase: "Succeeded" }),
    makePod("going", { deleted: true }),
  ];

  expect(pods.filter(isActive).map(({ metadata }) => metadata.name)).toEqual(["running"]);
});

describe("a deletion cost counts only in its canonical form", () => {
  const cases: Record<string, number> = {
    "0": 0,
    "-10": -10,
    "2147483647": 2_147_483_647,
    "2147483648": 0,
    "+5": 0,
    "007": 0,
    "1.5": 0,
    "": 0,
    "-0": 0,
  };
  for (const [text, want] of Object.entries(cases)) {
    test(`${JSON.stringify(text)} is ${want}`, () => {
      expect(deletionCost(makePod("p", { annotations: { "controller.kubernetes.io/pod-deletion-cost": text } }))).toBe(
        want,
      );
    });
  }
});

test("the least useful pods come first", () => {
  const pods = [
    makePod("old-and-ready", { node: "a", readySince: "2024-05-01T10:00:00Z", createdAt: "2024-05-01T09:00:00Z" }),
    makePod("just-ready", { node: "a", readySince: "2024-05-01T11:00:00Z" }),
    makePod("not-ready", { node: "a" }),
    makePod("pending", { node: "a", phase: "Pending" }),
    makePod("unplaced", { phase: "Pending" }),
    makePod("old-and-restarted", { node: "a", readySince: "2024-05-01T10:00:00Z", restarts: 3 }),
  ];

  const order = pods.toSorted(activePodsOrder).map(({ metadata }) => metadata.name);

  expect(order).toEqual(["unplaced", "pending", "not-ready", "just-ready", "old-and-restarted", "old-and-ready"]);
});
