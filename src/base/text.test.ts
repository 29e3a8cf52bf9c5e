import { expect, test } from "vitest";
import { compareText } from "./text.ts";

test("texts are in the order of their units, not in that of a language", () => {
  const sorted = ["b", "a", "é", "B", "", "ab"].sort(compareText);

  expect(sorted).toEqual(["", "B", "a", "ab", "b", "é"]);
});
