import { expect, test } from "vitest";
import { packWorkloads, unpackWorkloads, workloadId } from "./wire.ts";
import type { WorkloadRow } from "./wire.ts";

const row = (name: string, more: Partial<WorkloadRow> = {}): WorkloadRow => {
  const ref = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name };
  return {
    id: workloadId(ref),
    ...ref,
    desired: 3,
    ready: 2,
    updated: 1,
    health: "progressing",
    note: "",
    policy: "shop/shop",
    cells: [],
    ...more,
  };
};

test("rows survive packing into columns, with cells of any number of members", () => {
  const rows = [
    row("web", { cells: [{ member: "oslo", desired: 2, ready: 1, updated: 0, health: "failed" }] }),
    row("config", { desired: -1, ready: -1, updated: -1, health: "healthy", note: "0/3 clusters are available" }),
    row("cart", {
      cells: [
        { member: "oslo", desired: 1, ready: 1, updated: 1, health: "healthy" },
        { member: "paris", desired: 2, ready: 0, updated: 0, health: "stale" },
      ],
    }),
  ];

  expect(unpackWorkloads(packWorkloads(rows))).toEqual(rows);
});

test("texts that many rows share are sent once", () => {
  const packed = packWorkloads(Array.from({ length: 100 }, (_, index) => row(`web-${index}`)));

  expect(packed.texts.filter((text) => text === "shop/shop")).toHaveLength(1);
});
