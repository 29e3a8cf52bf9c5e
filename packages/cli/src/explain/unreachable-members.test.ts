import { expect, test } from "vitest";
import type { MemberChange } from "@flotilla/flotilla";
import { createTestHub } from "../members/test-hub.ts";
import { withUnreachable } from "./unreachable-members.ts";
import type { PlanResult } from "./plan-input.ts";
import { renderPlan } from "./render-plan.ts";

const change = (cluster: string): MemberChange =>
  ({
    cluster,
    action: "create",
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "web" },
    fields: [],
  }) as unknown as MemberChange;
const planFor = (...clusters: string[]): PlanResult => ({
  hub: [],
  changes: clusters.map(change),
  problems: [],
  warnings: [],
  releases: [],
  unplanned: [],
  notes: [],
});
const VERSION = { "/version": { gitVersion: "v1.36.3" } };
const hub = () =>
  createTestHub({
    member1: VERSION,
    member2: { "/version": new Error("cut off") },
    member3: { "/version": new Error("cut off") },
  });

test("a changed member that does not respond is reported with the reason", async () => {
  const { client, asking } = hub();

  const plan = await withUnreachable(planFor("member1", "member2"), [], { ...asking, client });

  expect(plan.unreachable).toEqual([{ cluster: "member2", reason: "cut off" }]);
  expect(plan.notes).toEqual([
    "the hub has not noticed yet that member2 does not respond: once it has, other members may get larger parts of a partition or a budget than shown",
  ]);
  expect(renderPlan(plan)).toContain("Unreachable; these changes wait until the members are back:\n  member2: cut off");
});

test("a member that a release waits for is reported, although its first step changes nothing there", async () => {
  const { client, asking } = hub();
  const waves = [{ name: "canary", updated: 1, clusters: ["member2"] }];
  const release = { resource: "CloneSet shop/web", strategy: "careful", waves, total: 1, onFailure: "Pause" as const };

  const plan = await withUnreachable({ ...planFor(), releases: [release] }, [], { ...asking, client });

  expect(plan.unreachable).toEqual([{ cluster: "member2", reason: "cut off" }]);
});

test("members that a plan does not change, or excludes, are not queried", async () => {
  const { client, asking, asked } = hub();

  const plan = await withUnreachable(planFor("member1", "member3"), ["member3"], { ...asking, client });

  expect(plan.unreachable).toBeUndefined();
  expect(asked).toEqual(["member1 /version"]);
});
