import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { describePlaced } from "./describe-decision.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

const plan: SchedulePlan = {
  outcome: "scheduled",
  clusters: [{ name: "oslo", replicas: 2 }],
  verdicts: [],
  failedTerms: [],
};
const causeOf = (status: object): unknown =>
  describePlaced(
    {
      metadata: { name: "web", annotations: { "clusterpropagationpolicy.karmada.io/name": "all" } },
      spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, replicas: 2 },
      status,
    } as unknown as ResourceBinding,
    plan,
  )?.cause;

test("records a first placement as such", () => {
  expect(causeOf({})).toEqual({
    reason: "FirstPlacement",
    message: "placed for the first time by ClusterPropagationPolicy all",
  });
});

test("does not record a placement as the first after all members were lost", () => {
  expect(causeOf({ lastScheduledTime: "2024-05-01T12:00:00Z" })).toEqual({
    reason: "PlacedAgain",
    message: "placed again by ClusterPropagationPolicy all; it was on no member",
  });
});
