import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { SchedulePlan } from "../propagation/schedule/plan-schedule.ts";
import { createLastDecisions } from "./last-decisions.ts";

const scheduled = (cluster: string): SchedulePlan => ({
  outcome: "scheduled",
  clusters: [{ name: cluster }],
  verdicts: [{ cluster }],
  failedTerms: [],
});
const unschedulable: SchedulePlan = {
  outcome: "unschedulable",
  reason: "NoClusterFit",
  message: "no cluster fits",
  verdicts: [],
  failedTerms: [],
};
const key = (name: string) => ({ cluster: "hub", namespace: "shop", name });

test("the explanation keeps the last decision of a binding", () => {
  const decisions = createLastDecisions(createFakeClock());

  decisions.record(key("web"), scheduled("oslo"));
  decisions.record(key("web"), scheduled("paris"));

  expect(decisions.get(key("web"))?.summary.kept).toEqual([{ cluster: "paris" }]);
});

test("a pass without a decision keeps the last decision and clears a failure", () => {
  const decisions = createLastDecisions(createFakeClock());
  decisions.record(key("web"), scheduled("oslo"));
  decisions.record(key("db"), unschedulable);

  for (const name of ["web", "db"]) decisions.record(key(name), { outcome: "unchanged" });

  expect(decisions.get(key("web"))?.summary.kept).toEqual([{ cluster: "oslo" }]);
  expect(decisions.get(key("db"))).toBeUndefined();
});

test("drops the oldest decision when there are too many", () => {
  const decisions = createLastDecisions(createFakeClock(), 2);

  for (const name of ["a", "b", "a", "c"]) decisions.record(key(name), scheduled("oslo"));

  expect(["a", "b", "c"].filter((name) => decisions.get(key(name)))).toEqual(["a", "c"]);
});
