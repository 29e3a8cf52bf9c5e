import { expect, test } from "vitest";
import { parseWebhookJson } from "./webhook-answer.ts";

const cases: Record<string, { text: string; problem: string }> = {
  "an answer of a million empty objects": {
    text: `{"x":[${"{},".repeat(1_000_000)}{}]}`,
    problem: "more than 200000 values",
  },
  "an object with 30,000 keys": {
    text: JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`k${at}`, 1]))),
    problem: "more than 20000 keys",
  },
  "an answer of a thousand and one levels": { text: "[".repeat(1_001), problem: "nested more than 1000 levels" },
  "an answer that is not JSON": { text: "<html>", problem: "is not JSON" },
};
for (const [what, { text, problem }] of Object.entries(cases))
  test(`${what} is rejected`, () => expect(() => parseWebhookJson(Buffer.from(text), "the response")).toThrow(problem));

test("an answer with a few thousand values is read", () => {
  const value = Array.from({ length: 9_000 }, (_, at) => ({ at }));

  expect(parseWebhookJson(Buffer.from(JSON.stringify(value)), "the response")).toEqual(value);
});
