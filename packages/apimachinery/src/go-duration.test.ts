import { describe, expect, test } from "vitest";
import { parseGoDuration, parseGoDurationMs } from "./go-duration.ts";

const cases: Record<string, { text: string; want: bigint | undefined }> = {
  "several units": { text: "1h30m", want: 5_400_000_000_000n },
  "a fraction and a sign": { text: "-1.5s", want: -1_500_000_000n },
  "a fraction without a whole number": { text: "+.5ms", want: 500_000n },
  "zero without a unit": { text: "0", want: 0n },
  "the micro sign": { text: "3\u00b5s", want: 3_000n },
  "the Greek letter mu": { text: "3\u03bcs", want: 3_000n },
  "nanoseconds are exact": { text: "9007199254740993ns", want: 9_007_199_254_740_993n },
  "a number without a unit is rejected": { text: "90", want: undefined },
  "an unknown unit is rejected": { text: "1d", want: undefined },
  "a unit without a number is rejected": { text: "s", want: undefined },
  "a point without digits is rejected": { text: ".s", want: undefined },
  "an empty text is rejected": { text: "", want: undefined },
  "what 64 bits cannot hold is rejected": { text: "2562048h", want: undefined },
};

describe("durations of Go", () => {
  for (const [behaviour, { text, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(parseGoDuration(text)).toBe(want);
    });

  test("milliseconds have fractions", () => {
    expect(parseGoDurationMs("1.5ms")).toBe(1.5);
  });
});
