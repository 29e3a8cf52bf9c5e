import { expect, test } from "vitest";
import { takeNamed } from "./take-named.ts";

const previous = [
  { name: "oslo", replicas: 3 },
  { name: "paris", replicas: 1 },
];
const sizes = (replicas: number, named: string[]): (number | undefined)[] =>
  takeNamed(previous, replicas, named).map((target) => target.replicas);

test("replicas are taken from the clusters of the named pods", () => {
  expect(sizes(2, ["paris", "oslo"])).toEqual([2, 0]);
});

test("no more replicas are taken than the workload loses, in the order of the names", () => {
  expect(sizes(3, ["oslo", "paris"])).toEqual([2, 1]);
});

test("what named pods do not cover is left to the division", () => {
  expect(sizes(1, ["oslo"])).toEqual([2, 1]);
});

test("a cluster does not lose more replicas than it has", () => {
  expect(sizes(2, ["paris", "paris", "oslo"])).toEqual([2, 0]);
});

test("nothing is taken if the replicas stay or grow", () => {
  expect(takeNamed(previous, 4, ["oslo"])).toBe(previous);
  expect(takeNamed(previous, 6, ["oslo"])).toBe(previous);
});
