import { describe, expect, test } from "vitest";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { findLeftOut, planLeftOut, STATUS_COMPLETE } from "./plan-left-out.ts";

const NOW = "2024-05-01T12:00:00Z";
const template = makeDeployment("shop/web").replicas(4).build();
const binding = makeBinding(template).targets({ paris: 4, oslo: 0 }).build();
const owned = (...rules: string[]) => ({
  ownerOf: (rule: string) => (rules.includes(rule) ? "ResourceInterpreterCustomization mine" : undefined),
});
const healthy = (clusterName: string, status: object) => ({ clusterName, health: "Healthy", status });
const find = (status: object, ...rules: string[]) =>
  findLeftOut(binding, template, [healthy("paris", status), healthy("oslo", {})], owned(...rules));

describe("a user's ReflectStatus", () => {
  test("that leaves out counters of a healthy member with replicas is named", () => {
    expect(find({ replicas: 4 }, "reflectStatus")).toBe(
      "ReflectStatus of ResourceInterpreterCustomization mine leaves out readyReplicas and updatedReplicas of paris, so the hub counts none of their pods",
    );
  });

  test("that reports them is not", () => {
    expect(find({ readyReplicas: 4, updatedReplicas: 0 }, "reflectStatus")).toBeUndefined();
  });

  test("is not judged where the user also sums, or where the kind itself reflects", () => {
    expect(find({}, "reflectStatus", "aggregateStatus")).toBeUndefined();
    expect(find({})).toBeUndefined();
  });
});

test("the condition exists from the first message on, and ends with it", () => {
  const named = planLeftOut(binding, "left out", NOW);

  expect(named.status?.conditions).toEqual([
    expect.objectContaining({ type: STATUS_COMPLETE, status: "False", reason: "LeftOut", message: "left out" }),
  ]);
  expect(planLeftOut(named, "left out", NOW)).toBe(named);
  expect(planLeftOut(named, undefined, NOW).status?.conditions).toEqual([
    expect.objectContaining({ type: STATUS_COMPLETE, status: "True" }),
  ]);
  expect(planLeftOut(binding, undefined, NOW)).toBe(binding);
});
