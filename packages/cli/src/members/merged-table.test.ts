import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { alignColumns, cellText, mergeColumns, placesIn, readTable } from "./merged-table.ts";
import type { TableColumn } from "./merged-table.ts";

const column = (name: string, priority = 0): TableColumn => ({ name, priority, isName: name === "Name" });

test("a table is read with its columns, and rows know their objects", () => {
  const answer: JsonObject = {
    kind: "Table",
    columnDefinitions: [
      { name: "Name", format: "name", priority: 0 },
      { name: "Node", priority: 1 },
    ],
    rows: [
      {
        cells: ["web-1", null],
        object: {
          metadata: { name: "web-1", namespace: "shop", uid: "u", resourceVersion: "7", labels: { app: "web" } },
        },
      },
    ],
  };

  expect(readTable(answer, 0)).toEqual({
    columns: [
      { name: "Name", priority: 0, isName: true },
      { name: "Node", priority: 1, isName: false },
    ],
    rows: [
      {
        cells: ["web-1", "<none>"],
        namespace: "shop",
        name: "web-1",
        uid: "u",
        resourceVersion: "7",
        labels: { app: "web" },
      },
    ],
  });
});

test("later watch events use the columns of the first", () => {
  const columns = [column("Name")];

  expect(readTable({ kind: "Table", columnDefinitions: null, rows: [] }, 0, columns).columns).toBe(columns);
});

test("a server without tables is shown by name and age", () => {
  const list = { kind: "ThingList", items: [{ metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } }] };

  expect(readTable(list, Date.parse("2026-01-01T00:05:00Z")).rows[0]?.cells).toEqual(["a", "5m"]);
});

test("control characters and line breaks from a member are removed", () => {
  expect(cellText("\u001b[31mred\u009b")).toBe("?[31mred?");
  expect(cellText("first\nsecond")).toBe("first...");
});

const merges: Record<string, { tables: TableColumn[][]; want: string[] }> = {
  "equal columns appear once": {
    tables: [
      [column("Name"), column("Age")],
      [column("Name"), column("Age")],
    ],
    want: ["Name 0", "Age 0"],
  },
  "a column of a newer server keeps its position": {
    tables: [
      [column("Name"), column("Age")],
      [column("Name"), column("Ready"), column("Age")],
    ],
    want: ["Name 0", "Ready 0", "Age 0"],
  },
  "a column that only the first table has stays": {
    tables: [
      [column("Name"), column("Old"), column("Age")],
      [column("Name"), column("Age")],
    ],
    want: ["Name 0", "Old 0", "Age 0"],
  },
  "a column that one table always shows is always shown": {
    tables: [
      [column("Name"), column("IP", 1)],
      [column("Name"), column("IP")],
    ],
    want: ["Name 0", "IP 0"],
  },
};
for (const [behaviour, { tables, want }] of Object.entries(merges)) {
  test(behaviour, () => {
    expect(mergeColumns(tables).map(({ name, priority }) => `${name} ${priority}`)).toEqual(want);
  });
}

test("a merged column that a table lacks has index -1", () => {
  expect(placesIn([column("Name"), column("Ready"), column("Age")], [column("Name"), column("Age")])).toEqual([
    0, -1, 1,
  ]);
});

test("columns move closer on a narrow terminal, and names stay complete", () => {
  const rows = [
    ["CLUSTER", "NAME"],
    ["m", "a-long-name"],
  ];

  expect(alignColumns(rows)).toEqual(["CLUSTER   NAME", "m         a-long-name"]);
  expect(alignColumns(rows, [], 19)).toEqual(["CLUSTER NAME", "m       a-long-name"]);
});

test("later lines align with the first", () => {
  const widths: number[] = [];
  alignColumns([["CLUSTER", "NAME"]], widths);

  expect(alignColumns([["m", "a"]], widths)).toEqual(["m         a"]);
});
