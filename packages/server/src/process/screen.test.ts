import { describe, expect, test } from "vitest";
import { helpWidth, paintFor, widthOf } from "./screen.ts";

const terminal = { isTTY: true, columns: 100 };
const pipe = {};
const cases: Record<
  string,
  { stream: { isTTY?: boolean }; environment: Record<string, string>; noColor?: boolean; want: boolean }
> = {
  "a terminal has colours": { stream: terminal, environment: { TERM: "xterm" }, want: true },
  "a file or pipe has no colours": { stream: pipe, environment: { TERM: "xterm" }, want: false },
  "a dumb terminal has no colours": { stream: terminal, environment: { TERM: "dumb" }, want: false },
  "NO_COLOR disables them": { stream: terminal, environment: { NO_COLOR: "1" }, want: false },
  "an empty NO_COLOR is ignored": { stream: terminal, environment: { NO_COLOR: "" }, want: true },
  "FORCE_COLOR enables them in a pipe": { stream: pipe, environment: { FORCE_COLOR: "1" }, want: true },
  "FORCE_COLOR=0 disables them": { stream: terminal, environment: { FORCE_COLOR: "0" }, want: false },
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

test("a terminal has a width, a file has none", () => {
  expect([widthOf(terminal), widthOf({ isTTY: true, columns: 10 }), widthOf(pipe)]).toEqual([100, 40, undefined]);
});

test("help is eighty columns wide without a terminal, and has a maximum width", () => {
  expect([helpWidth(pipe), helpWidth({ isTTY: true, columns: 60 }), helpWidth({ isTTY: true, columns: 250 })]).toEqual([
    80, 60, 120,
  ]);
});
