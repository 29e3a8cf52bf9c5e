import { expect, test } from "vitest";
import { didYouMean, nearestOf } from "./did-you-mean.ts";

const commands = ["up", "demo", "status", "why", "plan", "join", "unjoin", "version"];
const cases: Record<string, { word: string; want: string | undefined }> = {
  "a letter too few is understood": { word: "staus", want: "status" },
  "a letter too many is understood": { word: "plann", want: "plan" },
  "a swapped pair of letters is understood": { word: "jion", want: "join" },
  "capital letters do not matter": { word: "Status", want: "status" },
  "the beginning of a word is understood": { word: "ver", want: "version" },
  "short words are not guessed at": { word: "ls", want: undefined },
  "nothing is made of something else": { word: "restart", want: undefined },
  "a text without end is not compared": { word: "s".repeat(1_000_000), want: undefined },
};
for (const [behaviour, { word, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(nearestOf(word, commands)).toBe(want);
  });
}

test("a suggestion is a question in brackets, or nothing", () => {
  expect([didYouMean("stats", commands), didYouMean("frobnicate", new Set(commands))]).toEqual([
    " (did you mean 'status'?)",
    "",
  ]);
});
