import { expect, test } from "vitest";
import type { ManifestCondition } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import { aggregateConditions, mergeManifests, withoutOldRules } from "./manifest-conditions.ts";

const NOW = "2026-01-01T00:00:00Z";
const EARLIER = "2025-01-01T00:00:00Z";
const manifest = (
  ordinal: number,
  name: string,
  type: string,
  status: "True" | "False" | "Unknown",
  reason = "ConditionRuleEvaluated",
  observedGeneration = 1,
): ManifestCondition => ({
  resourceMeta: {
    ordinal,
    group: "",
    version: "v1",
    kind: "ConfigMap",
    resource: "configmaps",
    namespace: "shop",
    name,
  },
  conditions: [
    { type, status, reason, message: `${name} is ${status}`, lastTransitionTime: EARLIER, observedGeneration },
  ],
});
const statusOf = (type: string, ...statuses: ("True" | "False" | "Unknown")[]): string | undefined =>
  aggregateConditions(
    1,
    statuses.map((status, index) => manifest(index, `m${index}`, type, status)),
  ).find((condition) => condition.type === type)?.status;

test("a work is progressing while one manifest is, and has any other condition only when all manifests do", () => {
  expect(statusOf("Progressing", "True", "False")).toBe("True");
  expect(statusOf("Progressing", "False", "Unknown")).toBe("Unknown");
  expect(statusOf("Progressing", "False", "False")).toBe("False");
  expect(statusOf("Complete", "True", "False")).toBe("False");
  expect(statusOf("Complete", "True", "Unknown")).toBe("Unknown");
  expect(statusOf("Complete", "True", "True")).toBe("True");
});

test("a manifest that moved to another position keeps its conditions, unless there are two of the same identity", () => {
  const before = [
    manifest(0, "a", "Applied", "True", "Done"),
    manifest(1, "b", "Applied", "True", "Done"),
    manifest(2, "b", "Applied", "True", "Done"),
  ];

  const merged = mergeManifests(
    before,
    [manifest(5, "a", "Applied", "True", "Done"), manifest(6, "b", "Applied", "True", "Done")],
    NOW,
  );

  expect(merged.map(({ conditions }) => conditions[0]?.lastTransitionTime)).toEqual([EARLIER, NOW]);
});

test("a manifest that could not be read matches no other", () => {
  const unread = (ordinal: number): ManifestCondition => ({
    ...manifest(ordinal, "", "Applied", "False", "Failed"),
    resourceMeta: { ordinal },
  });

  const merged = mergeManifests([unread(0)], [unread(0), unread(1)], NOW);

  expect(merged.map(({ conditions }) => conditions[0]?.lastTransitionTime)).toEqual([EARLIER, NOW]);
});

test("a condition of another generation gets a new transition time", () => {
  const merged = mergeManifests(
    [manifest(0, "a", "Applied", "True", "Done", 1)],
    [manifest(0, "a", "Applied", "True", "Done", 2)],
    NOW,
  );

  expect(merged[0]?.conditions).toEqual([expect.objectContaining({ observedGeneration: 2, lastTransitionTime: NOW })]);
});

test("a rule condition of an earlier generation is dropped", () => {
  const conditions = [
    ...manifest(0, "a", "Complete", "True").conditions,
    ...manifest(0, "a", "Applied", "True", "Done").conditions,
  ];

  expect(withoutOldRules(conditions, 2).map(({ type }) => type)).toEqual(["Applied"]);
});
