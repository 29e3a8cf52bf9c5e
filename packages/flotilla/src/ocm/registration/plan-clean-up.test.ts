import { expect, test } from "vitest";
import type { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { planCleanUp, type RemovalMode } from "./plan-clean-up.ts";

const NOW = Date.parse("2024-05-01T12:00:00Z");
const makeLeaving = (minutes: number, available = "True"): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "c1", deletionTimestamp: new Date(NOW - minutes * 60_000).toISOString() },
  spec: {},
  status: {
    conditions: [
      {
        type: "ManagedClusterConditionAvailable",
        status: available as "True" | "Unknown",
        reason: "X",
        message: "",
        lastTransitionTime: "2024-05-01T11:00:00Z",
      },
    ],
  },
});
const makeWork = (name: string, priority?: string, rest: Partial<ManifestWork["metadata"]> = {}): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: {
    name,
    namespace: "c1",
    finalizers: ["cluster.open-cluster-management.io/manifest-work-cleanup"],
    annotations: priority !== undefined ? { "open-cluster-management.io/cleanup-priority": priority } : undefined,
    ...rest,
  },
  spec: {},
});
const namesOf = (works: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  works.map(({ metadata }) => metadata.name);

test("without works there is nothing to wait for", () => {
  expect(planCleanUp(makeLeaving(0), [], "delete", NOW)).toMatchObject({
    deletes: [],
    recheckMs: undefined,
    condition: { status: "True", reason: "NoResource" },
  });
});

test("works are deleted in order of cleanup priority, and a priority that is not a number from 0 to 100 counts as 0", () => {
  const works = [
    makeWork("late", "100"),
    makeWork("none"),
    makeWork("wrong", "soon"),
    makeWork("beyond", "101"),
    makeWork("below", "-1"),
    makeWork("next", "7"),
  ];

  expect(namesOf(planCleanUp(makeLeaving(0), works, "delete", NOW).deletes)).toEqual([
    "none",
    "wrong",
    "beyond",
    "below",
  ]);
  expect(
    namesOf(
      planCleanUp(
        makeLeaving(0),
        [works[0], works[5]].flatMap((work) => work ?? []),
        "delete",
        NOW,
      ).deletes,
    ),
  ).toEqual(["next"]);
});

test("the next priority waits until works of the current one are deleted", () => {
  const plan = planCleanUp(
    makeLeaving(0),
    [makeWork("first", undefined, { deletionTimestamp: "2024-05-01T12:00:00Z" }), makeWork("second", "1")],
    "delete",
    NOW,
  );

  expect(plan.deletes).toEqual([]);
  expect(plan.condition).toMatchObject({
    status: "False",
    reason: "ResourceRemaining",
    message: "The resource manifestworks is remaning, the remaining count is 2, the finalizer pending count is 2",
  });
});

const letsGo: Record<string, { minutes: number; available?: string; leaveMode: RemovalMode; want: boolean }> = {
  "an available member is waited for without a deadline": { minutes: 60, leaveMode: "delete", want: false },
  "an unreachable member is waited for up to five minutes": {
    minutes: 4.9,
    available: "Unknown",
    leaveMode: "delete",
    want: false,
  },
  "an unreachable member is not waited for after five minutes": {
    minutes: 5,
    available: "Unknown",
    leaveMode: "delete",
    want: true,
  },
  "an unjoined member is waited for up to 30 seconds": { minutes: 0.4, leaveMode: "release", want: false },
  "an unjoined member is not waited for after 30 seconds": { minutes: 0.5, leaveMode: "release", want: true },
  "a force-unjoined member is not waited for": { minutes: 0, leaveMode: "abandon", want: true },
};
for (const [behaviour, { minutes, available, leaveMode, want }] of Object.entries(letsGo)) {
  test(behaviour, () => {
    const plan = planCleanUp(makeLeaving(minutes, available), [makeWork("a", "1"), makeWork("b")], leaveMode, NOW);

    expect(namesOf(plan.orphaned)).toEqual(want ? ["a", "b"] : []);
    expect(plan.isOrphaning).toBe(leaveMode === "release");
  });
}
