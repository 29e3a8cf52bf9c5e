import { expect, test } from "vitest";
import { layoutMap } from "./map-layout.ts";
import { layoutTree } from "./tree-layout.ts";
import type { CopyRow, Health, ObjectView } from "./wire.ts";

const copy = (member: string, health: Health): CopyRow => ({
  member,
  work: "",
  desired: 1,
  ready: 1,
  updated: 1,
  health,
  applied: true,
  message: "",
  drift: "",
  live: true,
  notLive: "",
  partition: "",
  images: [],
  pods: [],
  morePods: 0,
});
const view = (copies: CopyRow[]): ObjectView => ({
  ref: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
  template: {},
  policy: "shop/shop",
  binding: "web-deployment",
  conditions: [],
  copies,
  moreCopies: 0,
  notes: [],
});
const words = (health: Health, count: number): string => `${count} ${health}`;

test("a tree of a thousand members folds those that are well, and keeps those that failed open", () => {
  const copies = Array.from({ length: 1_000 }, (_, index) => copy(`member${index}`, index < 3 ? "failed" : "healthy"));

  const { nodes, edges } = layoutTree(view(copies), new Set(), words);

  expect(nodes.map(({ title }) => title)).toEqual(["web", "shop/shop", "member0", "member1", "member2", "997 healthy"]);
  expect(edges).toHaveLength(nodes.length - 1);
});

test("an unfolded group of a tree has a limit", () => {
  const copies = Array.from({ length: 1_000 }, (_, index) => copy(`member${index}`, "healthy"));

  expect(layoutTree(view(copies), new Set<Health>(["healthy"]), words).nodes.length).toBeLessThanOrEqual(200);
});

test("squares of a map never overlap and stay inside its width", () => {
  const items = Array.from({ length: 700 }, (_, index) => ({ group: `region${index % 3}`, weight: index }));

  const { squares, height } = layoutMap(items, 900);

  expect(new Set(squares.map(({ x, y }) => `${x},${y}`)).size).toBe(700);
  expect(squares.every(({ x, y, size }) => x >= 0 && x + size <= 900 && y + size <= height)).toBe(true);
});
