import { expect, test } from "vitest";
import { fractionalShare } from "./int-or-percent.ts";

const cases: Record<string, [share: string, want: number | undefined]> = {
  "supports fractions of a percent": ["12.5%", 2],
  "a number may end with a point": ["50.%", 5],
  "digits may have separators": ["1_0%", 1],
  "rejects a text without a percent sign": ["50", undefined],
  // Would take hours with an expression that matches digits ambiguously.
  "rejects a megabyte of digits that is not a number at once": [`${"1".repeat(1_000_000)}x%`, undefined],
};
for (const [behaviour, [share, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(fractionalShare(share, 10, "up")).toBe(want);
  });
}
