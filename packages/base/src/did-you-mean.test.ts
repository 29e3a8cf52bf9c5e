import { expect, test } from "vitest";
import { didYouMean, nearestOf } from "./did-you-mean.ts";

const commands = ["up", "demo", "status", "why", "plan", "join", "unjoin", "version"];
const cases: Record<string, { word: string; want: string | undefined }> = {
  "a missing letter is corrected": { word: "staus", want: "status" },
  "an extra letter is corrected": { word: "plann", want: "plan" },
  "two swapped letters are corrected": { word: "jion", want: "join" },
  "case is ignored": { word: "Status", want: "status" },
  "a prefix is completed": { word: "ver", want: "version" },
  "short words get no suggestion": { word: "ls", want: undefined },
  "an unrelated word gets no suggestion": { word: "restart", want: undefined },
  "an overlong word is not compared": { word: "s".repeat(1_000_000), want: undefined },
};
for (const [behaviour, { word, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(nearestOf(word, commands)).toBe(want);
  });
}

test("of several names that are equally near, none is suggested", () => {
  const members = ["member1", "member2", "member3"];

  expect([nearestOf("member7", members), nearestOf("membr1", members), nearestOf("member7", ["member1"])]).toEqual([
    undefined,
    "member1",
    "member1",
  ]);
});

test("a suggestion is a question in parentheses, or empty", () => {
  expect([didYouMean("stats", commands), didYouMean("frobnicate", new Set(commands))]).toEqual([
    " (did you mean 'status'?)",
    "",
  ]);
});
