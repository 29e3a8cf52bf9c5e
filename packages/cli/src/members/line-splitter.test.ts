import { expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

const lines = (splitter: ReturnType<typeof createLineSplitter>, text: string): string[] =>
  splitter.push(Buffer.from(text)).map(String);

test("lines are complete, wherever chunks end", () => {
  const splitter = createLineSplitter(100);

  expect(lines(splitter, "a\nb")).toEqual(["a"]);
  expect(lines(splitter, "c\n\nd")).toEqual(["bc", ""]);
  expect(splitter.rest().map(String)).toEqual(["d"]);
  expect(splitter.rest()).toEqual([]);
});

test("a line beyond the limit is split, so that memory is bounded", () => {
  const splitter = createLineSplitter(4);

  expect(lines(splitter, "abcdef")).toEqual(["abcdef"]);
  expect(lines(splitter, "g\n")).toEqual(["g"]);
});
