/** `when` and `depends`. */
import { expect, test } from "vitest";
import { holds, isWhen, tasksIn } from "./task-expressions.ts";
import { describeDuration, parseDurationMs } from "./workflow-durations.ts";

const whens: Record<string, boolean> = {
  "a == a": true,
  "a != a": false,
  '"x y" == "x y"': true,
  "2 < 10": true,
  "b > a": true,
  "1 == 1 && 2 == 3": false,
  "1 == 2 || 3 >= 3": true,
  true: true,
  " false ": false,
  "'' == ''": true,
};
for (const [text, want] of Object.entries(whens)) {
  test(`when ${text} is ${String(want)}`, () => {
    expect(isWhen(text)).toBe(want);
  });
}

test("rejects a when expression that is not a comparison", () => {
  expect(() => isWhen("(a == b)")).toThrow("only comparisons joined by && and || are supported");
});

const ended = (task: string, result: string | undefined): boolean =>
  result === undefined ? task === "good" : `${task}.${result}` === "bad.Failed";
const dependencies: Record<string, boolean> = {
  good: true,
  bad: false,
  "good && bad": false,
  "good || bad": true,
  "bad.Failed": true,
  "!bad && (bad || bad.Failed)": true,
  "bad || bad && good": false,
};
for (const [text, want] of Object.entries(dependencies)) {
  test(`depends ${text} ${want ? "holds" : "does not hold"}`, () => {
    expect(holds(text, ended)).toBe(want);
  });
}

test("rejects an invalid depends expression", () => {
  for (const text of ["good &&", "(good", "good bad", "&& good", "good $ bad"])
    expect(() => holds(text, ended)).toThrow("invalid depends");
});

test("finds each task of a depends expression once", () => {
  expect(tasksIn("a && (b.Failed || !c) && a.Succeeded")).toEqual(["a", "b", "c"]);
});

test("durations are seconds or have units", () => {
  expect(["10", "1h30m", "500ms", "1.5s", "", "x", "-1s", "10 s"].map(parseDurationMs)).toEqual([
    10_000,
    5_400_000,
    500,
    1500,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([0, 65_000, 3_600_000].map(describeDuration)).toEqual(["0 seconds", "1 minute 5 seconds", "1 hour"]);
});
