import { expect, test } from "vitest";
import { fitColumns } from "./fit-columns.ts";

const cases: Record<string, { header: string[]; row: string[]; room: number; want: string[] }> = {
  "columns that fit are all shown": {
    header: ["CLUSTER", "NAME", "TYPE"],
    row: ["member1", "web", "x"],
    room: 17,
    want: ["CLUSTER", "NAME", "TYPE"],
  },
  "the rightmost column of low priority is hidden first": {
    header: ["CLUSTER", "NAME", "DESIRED", "UPDATED", "READY", "TOTAL", "AGE"],
    row: ["member1", "web", "3", "3", "3", "3", "5m"],
    room: 40,
    want: ["CLUSTER", "NAME", "DESIRED", "UPDATED", "READY", "AGE"],
  },
  "more columns are hidden until the rest fits": {
    header: ["CLUSTER", "NAME", "DESIRED", "UPDATED", "READY", "TOTAL", "AGE"],
    row: ["member1", "web", "3", "3", "3", "3", "5m"],
    room: 25,
    want: ["CLUSTER", "NAME", "READY", "AGE"],
  },
  "the status is hidden last": {
    header: ["CLUSTER", "NAME", "READY", "STATUS", "RESTARTS", "AGE"],
    row: ["member1", "web-1", "1/1", "Running", "0", "5m"],
    room: 32,
    want: ["CLUSTER", "NAME", "READY", "STATUS", "AGE"],
  },
  "a name is shown in full, even where it does not fit": {
    header: ["CLUSTER", "NAME", "TYPE"],
    row: ["member1", "a-very-long-name", "x"],
    room: 10,
    want: ["CLUSTER", "NAME"],
  },
};
for (const [behaviour, { header, row, room, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(fitColumns(header, [row], room).map((column) => header[column])).toEqual(want);
  });
}
