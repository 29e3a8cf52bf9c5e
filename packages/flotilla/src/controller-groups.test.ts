import { expect, test } from "vitest";
import type { Lease } from "@flotilla/kubernetes";
import { controllersLease, controllerUnits, shardOf, shardOfLease } from "./controller-groups.ts";

const MEMBERS = Array.from({ length: 1000 }, (_, index) => `member${index}`);
const makeLease = (name: string, second: number): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "karmada-system", name },
  spec: { holderIdentity: "a", renewTime: `2024-05-01T12:00:${String(second).padStart(2, "0")}.000000Z` },
});

test("members are spread evenly over shards", () => {
  for (const count of [2, 3, 4, 8]) {
    const sizes = Array.from({ length: count }, () => 0);
    for (const member of MEMBERS) sizes[shardOf(member, count)] = (sizes[shardOf(member, count)] ?? 0) + 1;

    expect(Math.min(...sizes)).toBeGreaterThan((0.75 * MEMBERS.length) / count);
    expect(Math.max(...sizes)).toBeLessThan((1.25 * MEMBERS.length) / count);
  }
});

test("with one shard more, members move only to the new one", () => {
  for (const count of [1, 2, 3, 7]) {
    const moved = MEMBERS.filter((member) => shardOf(member, count) !== shardOf(member, count + 1));

    expect(moved.length).toBeGreaterThan(0);
    expect(new Set(moved.map((member) => shardOf(member, count + 1)))).toEqual(new Set([count]));
  }
});

test("the Lease of a shard names it, and one shard has the Lease of the group", () => {
  expect(controllersLease("delivery", { index: 1, count: 3 })).toBe("flotilla-controllers-delivery-1-of-3");
  expect(shardOfLease("flotilla-controllers-delivery-1-of-3")).toEqual({ index: 1, count: 3 });
  expect(shardOfLease(controllersLease("delivery"))).toEqual({ index: 0, count: 1 });
  expect(shardOfLease(controllersLease("ocm"))).toBeUndefined();
});

test("every group must run, and every shard of the number that was renewed last", () => {
  const leases = [
    makeLease("flotilla-controllers", 9),
    makeLease("flotilla-controllers-delivery", 1),
    makeLease("flotilla-controllers-delivery-0-of-2", 8),
  ];

  expect(controllerUnits(leases).map(({ name, lease }) => [name, lease?.metadata.name])).toEqual([
    ["propagation", "flotilla-controllers"],
    ["membership", undefined],
    ["ocm", undefined],
    ["delivery 0/2", "flotilla-controllers-delivery-0-of-2"],
    ["delivery 1/2", undefined],
  ]);
});
