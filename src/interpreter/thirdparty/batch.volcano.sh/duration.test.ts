import { expect, test } from "vitest";
import { secondsOf } from "./duration.ts";

const cases: Record<string, { duration: unknown; want: number }> = {
  "hours, minutes and seconds add up": { duration: "1h2m3.5s", want: 3723.5 },
  "minutes alone are minutes": { duration: "3m", want: 180 },
  "milliseconds are not minutes": { duration: "850ms", want: 0.85 },
  "microseconds have two spellings": { duration: "1s500µs", want: 1.0005 },
  "a bare number is seconds": { duration: 90, want: 90 },
  "a bare number in a text is seconds": { duration: "90", want: 90 },
  "nothing lasts no time": { duration: undefined, want: 0 },
  "an empty text lasts no time": { duration: "", want: 0 },
  "a word lasts no time": { duration: "forever", want: 0 },
  "a text too long for a duration lasts no time": { duration: "1".repeat(100_000), want: 0 },
};
for (const [behaviour, { duration, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(secondsOf(duration)).toBeCloseTo(want, 9);
  });
}
