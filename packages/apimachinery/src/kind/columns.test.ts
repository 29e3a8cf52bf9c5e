import { expect, test } from "vitest";
import { age, selectorCell } from "./columns.ts";

test("prints <unknown> for an unknown age", () => {
  expect(age(undefined, 0)).toBe("<unknown>");
  expect(age("yesterday", 0)).toBe("<invalid>");
});

test("prints a selector sorted by key", () => {
  const text = selectorCell({
    matchLabels: { b: "2", a: "1" },
    matchExpressions: [
      { key: "aa", operator: "In", values: ["y", "x"] },
      { key: "c", operator: "DoesNotExist" },
    ],
  });

  expect(text).toBe("a=1,aa in (x,y),b=2,!c");
});
