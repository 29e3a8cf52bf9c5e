import { expect, test } from "vitest";
import { chooseSubset, recordDeletion, withoutRecord } from "./subset-records.ts";
import type { ReadonlySpread, Status } from "./spread-targets.ts";
import { VERSION_IGNORED } from "./spread-targets.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const makeSpread = (status?: Status): ReadonlySpread => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "WorkloadSpread",
  metadata: { name: "web" },
  spec: {
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    subsets: [{ name: "base", maxReplicas: 1 }, { name: "burst" }],
  },
  status,
});
const pod = (id: string): Parameters<typeof chooseSubset>[1] => ({ name: "", id, version: VERSION_IGNORED });
const missing = (status: Status | undefined): number[] =>
  status?.versionedSubsetStatuses?.[VERSION_IGNORED]?.map(({ missingReplicas }) => missingReplicas) ?? [];

test("the next pod does not get a place that is taken", () => {
  const first = chooseSubset(makeSpread(), pod("a"), 3, NOW);

  const second = chooseSubset(makeSpread(first.status), pod("b"), 3, NOW);

  expect([first.subset, second.subset]).toEqual(["base", "burst"]);
});

test("a pod whose creation failed leaves its place to another", () => {
  const { status } = chooseSubset(makeSpread(), pod("a"), 3, NOW);

  const after = withoutRecord(makeSpread(status), VERSION_IGNORED, "a", "creatingPods");

  expect(missing(status)).toEqual([0, -1]);
  expect(missing(after)).toEqual([1, -1]);
  expect(chooseSubset(makeSpread(after), pod("b"), 3, NOW).subset).toBe("base");
});

test("a pod whose deletion failed keeps its place", () => {
  const full = chooseSubset(makeSpread(), pod("a"), 3, NOW).status;
  const status = recordDeletion(makeSpread(full), { name: "web-1", subset: "base", version: VERSION_IGNORED }, 3, NOW);

  const after = withoutRecord(makeSpread(status), VERSION_IGNORED, "web-1", "deletingPods");

  expect([missing(status), missing(after)]).toEqual([
    [1, -1],
    [0, -1],
  ]);
});

test("what the controller has counted in between is not undone", () => {
  expect(withoutRecord(makeSpread({}), VERSION_IGNORED, "a", "creatingPods")).toBeUndefined();
});
