import { describe, expect, test } from "vitest";
import { helpWidth, paintFor, widthOf } from "./screen.ts";

const terminal = { isTTY: true, columns: 100 };
const pipe = {};
const cases: Record<
  string,
  { stream: { isTTY?: boolean }; environment: Record<string, string>; noColor?: boolean; want: boolean }
> = {
  "a terminal has colours": { stream: terminal, environment: { TERM: "xterm" }, want: true },
  "a file or pipe has none": { stream: pipe, environment: { TERM: "xterm" }, want: false },
  "a terminal that calls itself dumb has none": { stream: terminal, environment: { TERM: "dumb" }, want: false },
  "NO_COLOR takes them away": { stream: terminal, environment: { NO_COLOR: "1" }, want: false },
  "an empty NO_COLOR says nothing": { stream: terminal, environment: { NO_COLOR: "" }, want: true },
  "FORCE_COLOR brings them also into a pipe": { stream: pipe, environment: { FORCE_COLOR: "1" }, want: true },
  "FORCE_COLOR=0 takes them away": { stream: terminal, environment: { FORCE_COLOR: "0" }, want: false },
  "FORCE_COLOR wins over NO_COLOR, as in Node": {
    stream: pipe,
    environment: { FORCE_COLOR: "1", NO_COLOR: "1" },
    want: true,
  },
  "--no-color wins over everything": {
    stream: terminal,
    environment: { FORCE_COLOR: "1" },
    noColor: true,
    want: false,
  },
};
describe("colours", () => {
  for (const [behaviour, { stream, environment, noColor = false, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const text = paintFor(stream, environment, { noColor }).red("x");

      expect(text).toBe(want ? "\u001b[31mx\u001b[39m" : "x");
    });
  }
});

test("a terminal's width counts, and a file has none", () => {
  expect([widthOf(terminal), widthOf({ isTTY: true, columns: 10 }), widthOf(pipe)]).toEqual([100, 40, undefined]);
});

test("help is eighty columns wide where there is no terminal, and never very wide", () => {
  expect([helpWidth(pipe), helpWidth({ isTTY: true, columns: 60 }), helpWidth({ isTTY: true, columns: 250 })]).toEqual([
    80, 60, 120,
  ]);
});
