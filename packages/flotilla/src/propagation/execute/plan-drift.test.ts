import { expect, test } from "vitest";
import type { FieldDrift } from "../../delivery/drift.ts";
import { makeWork } from "@flotilla/testing/builders.ts";
import { changedByOthers, planDrifted, renderDrift } from "./plan-drift.ts";

const NOW = "2024-05-01T12:00:00Z";
const field = (name: string, theirs: FieldDrift["theirs"] = 9): FieldDrift => ({
  steps: ["f:spec", `f:${name}`],
  ours: 3,
  theirs,
  by: { manager: "ann", time: NOW },
});
const work = makeWork("paris", "web").build();

test("a Work without drift has no condition", () => {
  expect(planDrifted(work, [], NOW)).toBe(work);
});

test("reported drift is True until it ends, and repaired drift stays in the message", () => {
  const reported = planDrifted(
    work,
    [{ kind: "Deployment", name: "web", isRepaired: false, fields: [field("replicas")] }],
    NOW,
  );
  expect(reported.status?.conditions).toMatchObject([
    {
      type: "Drifted",
      status: "True",
      reason: "ReportOnly",
      message: "Deployment web: spec.replicas is 9 instead of 3 (ann, 2024-05-01T12:00:00Z)",
    },
  ]);
  expect(planDrifted(reported, [], NOW).status?.conditions).toMatchObject([{ status: "False", reason: "NoDrift" }]);

  const repaired = planDrifted(
    work,
    [{ kind: "Deployment", name: "web", isRepaired: true, fields: [field("replicas")] }],
    NOW,
  );
  expect(repaired.status?.conditions).toMatchObject([{ status: "False", reason: "Repaired" }]);
  expect(planDrifted(repaired, [], NOW)).toBe(repaired);
});

test("a value that a rule kept and the hub restores is not drift", () => {
  const kept = { ...field("replicas"), by: { manager: "flotilla-retained", time: NOW } };
  const object = { kind: "CloneSet", name: "web", isRepaired: true };

  expect(changedByOthers({ ...object, fields: [kept] })).toEqual([]);
  expect(changedByOthers({ ...object, fields: [kept, field("paused")] })).toEqual([
    { ...object, fields: [field("paused")] },
  ]);
  expect(changedByOthers({ ...object, isRepaired: false, fields: [kept] })).toHaveLength(1);
});

test("truncates many fields and long values", () => {
  const text = renderDrift({
    kind: "CloneSet",
    name: "web",
    isRepaired: true,
    fields: Array.from({ length: 12 }, (_, index) => field(`f${index}`, "x".repeat(1_000))),
  });

  expect(text).toContain("and 2 more");
  expect(text.length).toBeLessThan(2_000);
});
