import { describe, expect, test } from "vitest";
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, type NextCondition } from "@flotilla/apimachinery";
import { planDeleting, planWorkStatus } from "./plan-work-status.ts";
import type { ManifestReading } from "./read-manifest.ts";

const FIRST = "2026-01-01T00:00:00Z";
const LATER = "2026-01-01T00:01:00Z";
const work = (generation = 1): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name: "web", namespace: "paris", generation },
  spec: {},
});
const applied = (generation: number, status: "True" | "False" = "True"): NextCondition => ({
  type: "Applied",
  status,
  reason: status === "True" ? "AppliedManifestComplete" : "AppliedManifestFailed",
  message: "",
  observedGeneration: generation,
});
const available: NextCondition = {
  type: "Available",
  status: "True",
  reason: "ResourceAvailable",
  message: "Resource is available",
};
const synced: NextCondition = {
  type: "StatusFeedbackSynced",
  status: "True",
  reason: "StatusFeedbackSynced",
  message: "",
};
const progressing = (status: "True" | "False", generation: number): NextCondition => ({
  type: "Progressing",
  status,
  reason: "ConditionRuleNative",
  message: "",
  observedGeneration: generation,
});
const reading = (rest: Partial<ManifestReading> = {}, name = "web"): ManifestReading => ({
  meta: {
    ordinal: 0,
    group: "apps",
    version: "v1",
    kind: "Deployment",
    resource: "deployments",
    name,
    namespace: "shop",
  },
  available,
  ...rest,
});
const seen = (generation: number, ready: number, status: "True" | "False" = "True"): ManifestReading =>
  reading({
    applied: applied(generation),
    seen: {
      values: [{ name: "ReadyReplicas", fieldValue: { type: "Integer", integer: ready } }],
      feedback: synced,
      ruled: [progressing(status, generation)],
    },
  });
const condition = ({ status }: DeepReadonly<ManifestWork>, type: string): string | undefined => {
  const found = findCondition(status?.conditions, type);
  return found && `${found.status} ${found.observedGeneration} ${found.lastTransitionTime}`;
};

test("a status without changes is the same object", () => {
  const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 0)] }, FIRST);

  expect(planWorkStatus(first, { generation: 1, manifests: [seen(1, 0)] }, LATER)).toBe(first);
});

test("progress is reported together with the Applied condition of a generation", () => {
  const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 0)] }, FIRST);

  expect([condition(first, "Applied"), condition(first, "Progressing"), condition(first, "Available")]).toEqual([
    `True 1 ${FIRST}`,
    `True 1 ${FIRST}`,
    `True 1 ${FIRST}`,
  ]);
});

test("success of a new generation gets its own transition time", () => {
  const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 2, "False")] }, FIRST);

  const second = planWorkStatus(
    { ...first, metadata: { ...first.metadata, generation: 2 } },
    { generation: 2, manifests: [seen(2, 2, "False")] },
    LATER,
  );

  expect(condition(second, "Progressing")).toBe(`False 2 ${LATER}`);
});

test("changed feedback values only update the transition time of the feedback condition", () => {
  const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 0)] }, FIRST);

  const [manifest] =
    planWorkStatus(first, { generation: 1, manifests: [seen(1, 1)] }, LATER).status?.resourceStatus?.manifests ?? [];

  expect(manifest?.statusFeedback?.values?.[0]?.fieldValue.integer).toBe(1);
  expect(
    manifest?.conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`).toSorted(),
  ).toEqual([`Applied ${FIRST}`, `Available ${FIRST}`, `Progressing ${FIRST}`, `StatusFeedbackSynced ${LATER}`]);
});

describe("a manifest that was not tried", () => {
  test("keeps its conditions, and a new generation is not reported as applied", () => {
    const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 2, "False")] }, FIRST);
    const next = { ...first, metadata: { ...first.metadata, generation: 2 } };

    const untried = planWorkStatus(next, { generation: 2, manifests: [reading()] }, LATER);
    const half = planWorkStatus(
      next,
      {
        generation: 2,
        manifests: [
          { ...reading(), meta: { ...reading().meta, ordinal: 1, name: "other" }, applied: applied(2) },
          reading(),
        ],
      },
      LATER,
    );

    expect(condition(untried, "Applied")).toBe(`True 1 ${FIRST}`);
    expect(condition(half, "Applied")).toBe(`False 2 ${LATER}`);
  });
});

test("a resolved failure removes its condition", () => {
  const degraded: NextCondition = {
    type: "Degraded",
    status: "True",
    reason: "ConditionRuleNative",
    message: "",
    observedGeneration: 1,
  };
  const failed = reading({
    applied: applied(1),
    seen: { values: [], feedback: synced, ruled: [progressing("True", 1), degraded] },
  });
  const first = planWorkStatus(work(), { generation: 1, manifests: [failed] }, FIRST);
  expect(condition(first, "Degraded")).toBe(`True 1 ${FIRST}`);

  const second = planWorkStatus(first, { generation: 1, manifests: [seen(1, 2, "False")] }, LATER);

  expect(condition(second, "Degraded")).toBeUndefined();
  expect(second.status?.resourceStatus?.manifests?.[0]?.conditions.map(({ type }) => type)).not.toContain("Degraded");
});

test("a work withheld from its cluster reports why", () => {
  const first = planWorkStatus(work(), { generation: 1, manifests: [seen(1, 2)] }, FIRST);

  const { status } = planWorkStatus(first, { generation: 1, manifests: [], withheld: "no such label" }, LATER);

  expect(findCondition(status?.conditions, "Applied")).toMatchObject({
    status: "False",
    reason: "ClusterLabelsNotMatched",
    message: "no such label",
  });
  expect(status?.resourceStatus?.manifests).toEqual([]);
});

test("a work that is being deleted reports it once", () => {
  const first = planDeleting(work(), { gone: new Set() }, FIRST);

  expect(findCondition(first.status?.conditions, "Deleting")).toMatchObject({ status: "True", reason: "WorkDeleting" });
  expect(planDeleting(first, { gone: new Set() }, LATER)).toBe(first);
});

test("a work that is being deleted reports its member's rejections and the deleted objects", () => {
  const condition = {
    type: "Available",
    status: "True" as const,
    reason: "ResourceAvailable",
    message: "Resource is available",
    lastTransitionTime: FIRST,
  };
  const reported = {
    ...work(),
    status: {
      resourceStatus: {
        manifests: [0, 1].map((ordinal) => ({
          resourceMeta: { ordinal, name: `c${ordinal}` },
          conditions: [condition],
        })),
      },
    },
  };

  const next = planDeleting(reported, { gone: new Set([1]), refusal: "may not be deleted" }, LATER);

  expect(findCondition(next.status?.conditions, "Deleting")?.message).toBe(
    "ManifestWork is being deleted, but its cluster rejects the deletion: may not be deleted",
  );
  expect(
    next.status?.resourceStatus?.manifests?.map(({ conditions }) => findCondition(conditions, "Available")?.status),
  ).toEqual(["True", "False"]);
  expect(planDeleting(next, { gone: new Set([1]), refusal: "may not be deleted" }, LATER)).toBe(next);
});
