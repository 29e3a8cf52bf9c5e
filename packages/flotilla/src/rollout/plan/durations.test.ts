import { describe, expect, test } from "vitest";
import { durationMs, renderDuration } from "./durations.ts";

describe("a duration of a strategy is parsed", () => {
  const cases: Record<string, { text: string; want: number }> = {
    "with one unit": { text: "90s", want: 90_000 },
    "with several units": { text: "1h30m", want: 5_400_000 },
    "with milliseconds, which are not minutes": { text: "250ms", want: 250 },
    "with minutes and milliseconds": { text: "2m5ms", want: 120_005 },
    "as zero": { text: "0s", want: 0 },
    "with a thousand days": { text: "24000h", want: 86_400_000_000 },
  };
  for (const [behaviour, { text, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(durationMs(text)).toBe(want);
    });
});

describe("a duration in a sentence", () => {
  const cases: Record<string, { ms: number; want: string }> = {
    "is never negative when the clock jumps back": { ms: -5_000, want: "0 s" },
    "counts a part of a second as a second": { ms: 1, want: "1 s" },
    "has seconds below two minutes": { ms: 119_000, want: "119 s" },
    "has minutes from two minutes on": { ms: 600_000, want: "10 min" },
    "keeps seconds that a minute does not cover": { ms: 150_000, want: "2 min 30 s" },
    "has minutes below two hours": { ms: 5_400_000, want: "90 min" },
    "has hours from two hours on": { ms: 7_200_000, want: "2 h" },
    "keeps minutes that an hour does not cover": { ms: 9_000_000, want: "2 h 30 min" },
    "leaves out seconds beside hours": { ms: 7_201_000, want: "2 h" },
  };
  for (const [behaviour, { ms, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(renderDuration(ms)).toBe(want);
    });
});
