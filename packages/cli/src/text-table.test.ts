import { expect, test } from "vitest";
import { renderTable } from "./text-table.ts";
import { displayWidth } from "./text-layout.ts";

const NAME = "a-member-with-the-longest-name-that-kubernetes-allows-in-paris-1";
const REASON = "ClusterAffinity: the cluster is not one of those that the policy names, and no label of it matches";

test("columns are as wide as their widest cell, and nothing is shortened without a width", () => {
  expect(
    renderTable(
      ["NAME", "READY"],
      [
        ["member1", "1/1"],
        [NAME, "0/1"],
      ],
    ),
  ).toBe([`NAME${" ".repeat(63)}READY`, `member1${" ".repeat(60)}1/1`, `${NAME}   0/1`].join("\n"));
});

test("wide characters keep the columns aligned", () => {
  expect(
    renderTable(
      ["NAME", "READY"],
      [
        ["东京", "1/1"],
        ["oslo", "0/1"],
      ],
    ),
  ).toBe("NAME   READY\n东京   1/1\noslo   0/1");
});

test("a table that is too wide shortens the middle of its longest names", () => {
  const text = renderTable(
    ["CLUSTER", "VERSION", "NODES"],
    [
      [NAME, "v1.36.3", "3/3"],
      ["oslo", "v1.36.3", "3/3"],
    ],
    2,
    40,
  );

  expect(text.split("\n")).toEqual([
    "CLUSTER                   VERSION  NODES",
    "a-member-with-th…paris-1  v1.36.3  3/3",
    "oslo                      v1.36.3  3/3",
  ]);
});

test("sentences in the last column are wrapped", () => {
  const text = renderTable(["CLUSTER", "VERDICT", "REASON"], [["oslo", "refused", REASON]], 3, 80);

  expect(text.split("\n")).toEqual([
    "CLUSTER   VERDICT   REASON",
    "oslo      refused   ClusterAffinity: the cluster is not one of those that the",
    "                    policy names, and no label of it matches",
  ]);
});

test("very many rows are supported", () => {
  expect(
    renderTable(
      ["N"],
      Array.from({ length: 200_000 }, (_, row) => [String(row)]),
    ).split("\n"),
  ).toHaveLength(200_001);
});

test("every line fits, with any cells", () => {
  const rows = [
    [NAME, "shop", NAME, "True", REASON],
    ["东京东京东京东京东京东京东京东京", "店", "网", "False", "原因不明"],
    [NAME, NAME, NAME, "-", ""],
  ];

  for (const width of [80, 100, 200]) {
    const lines = renderTable(["CLUSTER", "NAMESPACE", "NAME", "READY", "REASON"], rows, 3, width).split("\n");

    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
  }
});
