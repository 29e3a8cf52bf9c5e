import { array, assert, constantFrom, property } from "fast-check";
import { expect, test } from "vitest";
import { unifiedDiff } from "./pod-diff.ts";

test("equal texts have no difference", () => {
  expect(unifiedDiff("a\nb", "a\nb")).toBe("");
});

test("changes are printed with three lines of context", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

  expect(unifiedDiff(before.join("\n"), before.with(4, "x").join("\n"))).toBe(
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
  );
});

test("distant changes are printed as separate hunks", () => {
  const before = Array.from({ length: 20 }, (_, index) => String(index));

  expect(unifiedDiff(before.join("\n"), before.with(1, "x").with(18, "y").join("\n")).match(/^@@/gm)).toHaveLength(2);
});

test("very long texts are not compared", () => {
  expect(unifiedDiff("a\n".repeat(5000), "b")).toBe("");
});

test("removed and added lines account for the difference in length, for random texts", () => {
  const lines = array(constantFrom("a", "b", "c", "d"), { maxLength: 12 });
  assert(
    property(lines, lines, (left, right) => {
      const shown = unifiedDiff(left.join("\n"), right.join("\n")).split("\n").slice(0, -1);
      const removed = shown.filter((line) => line.startsWith("-")).length;
      const added = shown.filter((line) => line.startsWith("+")).length;
      expect(removed - added).toBe(Math.max(left.length, 1) - Math.max(right.length, 1));
    }),
  );
});
