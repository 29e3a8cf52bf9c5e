import { expect, test } from "vitest";
import { earliestOf, latestOf } from "./times.ts";

const cases: Record<string, { times: string[]; earliest: string; latest: string }> = {
  "of one precision": {
    times: ["2024-05-01T12:00:00Z", "", "2024-05-01T11:59:59Z", "2024-05-02T00:00:00Z"],
    earliest: "2024-05-01T11:59:59Z",
    latest: "2024-05-02T00:00:00Z",
  },
  "of several precisions": {
    times: ["2024-05-01T12:00:00.500000Z", "2024-05-01T12:00:00Z", "2024-05-01T12:00:01Z"],
    earliest: "2024-05-01T12:00:00Z",
    latest: "2024-05-01T12:00:01Z",
  },
  "of several zones": {
    times: ["2024-05-01T12:00:00+02:00", "2024-05-01T11:00:00+00:00"],
    earliest: "2024-05-01T12:00:00+02:00",
    latest: "2024-05-01T11:00:00+00:00",
  },
  "that are absent": { times: ["", ""], earliest: "", latest: "" },
};
for (const [which, { times, earliest, latest }] of Object.entries(cases)) {
  test(`times ${which} are sorted chronologically`, () => {
    expect(earliestOf(times)).toBe(earliest);
    expect(latestOf(times)).toBe(latest);
  });
}
