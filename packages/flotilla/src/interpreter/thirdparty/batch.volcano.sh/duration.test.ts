import { expect, test } from "vitest";
import { secondsOf } from "./duration.ts";

const cases: Record<string, { duration: unknown; want: number }> = {
  "hours, minutes and seconds add up": { duration: "1h2m3.5s", want: 3723.5 },
  "a lone m is minutes": { duration: "3m", want: 180 },
  "ms is milliseconds, not minutes": { duration: "850ms", want: 0.85 },
  "microseconds have two spellings": { duration: "1s500µs", want: 1.0005 },
  "a bare number is in seconds": { duration: 90, want: 90 },
  "a bare number in a string is in seconds": { duration: "90", want: 90 },
  "an absent value is zero": { duration: undefined, want: 0 },
  "an empty string is zero": { duration: "", want: 0 },
  "a word is zero": { duration: "forever", want: 0 },
  "a string too long for a duration is zero": { duration: "1".repeat(100_000), want: 0 },
};
for (const [behaviour, { duration, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(secondsOf(duration)).toBeCloseTo(want, 9);
  });
}
