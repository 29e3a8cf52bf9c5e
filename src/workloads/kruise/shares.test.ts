import { expect, test } from "vitest";
import { fractionalShare } from "./shares.ts";

const cases: Record<string, [share: string, want: number | undefined]> = {
  "fractions of a percent count": ["12.5%", 2],
  "a point may end a number": ["50.%", 5],
  "digits may be separated": ["1_0%", 1],
  "a text without a percent sign cannot be read": ["50", undefined],
  // Hours with an expression that can match digits in two ways.
  "a megabyte of digits that is no number is refused at once": [`${"1".repeat(1_000_000)}x%`, undefined],
};
for (const [behaviour, [share, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(fractionalShare(share, 10, "up")).toBe(want);
  });
}
