import { expect, test } from "vitest";
import { compareText } from "./text.ts";

test("compareText orders by UTF-16 code units, independent of locale", () => {
  const sorted = ["b", "a", "é", "B", "", "ab"].sort(compareText);

  expect(sorted).toEqual(["", "B", "a", "ab", "b", "é"]);
});
