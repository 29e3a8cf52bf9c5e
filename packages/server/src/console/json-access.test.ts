import { createFakeClock } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import { labelsText, numberOf, objectAt, objectsAt, pause, reasonIn, selectorOf, textAt } from "./json-access.ts";

test("a value of an unexpected type counts as missing", () => {
  const object = { text: "x", list: [{ a: 1 }, "y", null], number: 7, map: { b: 2 } };

  expect([textAt(object, "text"), textAt(object, "number"), textAt(undefined, "text")]).toEqual(["x", "", ""]);
  expect([objectAt(object, "map"), objectAt(object, "list"), objectAt(undefined, "map")]).toEqual([{ b: 2 }, {}, {}]);
  expect([objectsAt(object, "list"), objectsAt(object, "map")]).toEqual([[{ a: 1 }], []]);
  expect([numberOf(0), numberOf("7"), numberOf(undefined)]).toEqual([0, undefined, undefined]);
  expect(labelsText({ app: "web", tier: 1 })).toEqual(["app=web"]);
});

test("the selector of a workload is its matchLabels", () => {
  expect(selectorOf({ spec: { selector: { matchLabels: { app: "web", tier: "front" } } } })).toBe("app=web,tier=front");
  expect(selectorOf({ spec: { selector: "app=web" } })).toBe("");
  expect(selectorOf(undefined)).toBe("");
});

describe("the reason of a failed request", () => {
  const cases: Record<string, { text: string; want: string }> = {
    "is the message of a Status": {
      text: '{"kind":"Status","message":"pods web not found"}',
      want: "pods web not found",
    },
    "is the text where it cannot be parsed": { text: "bad gateway", want: "bad gateway" },
    "is the text of a Status without a message": { text: '{"kind":"Status"}', want: '{"kind":"Status"}' },
    "is cut": { text: "x".repeat(300), want: "x".repeat(200) },
    "may be empty": { text: "", want: "" },
  };
  for (const [behaviour, { text, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(reasonIn(text)).toBe(want);
    });
});

test("a pause ends after its time, with its signal, or at once when the signal is aborted already", async () => {
  const clock = createFakeClock();
  const ending = new AbortController();
  const ended: string[] = [];
  const pauses = [
    pause(clock, 1_000, new AbortController().signal).then(() => ended.push("time")),
    pause(clock, 5_000, ending.signal).then(() => ended.push("signal")),
    pause(clock, 5_000, AbortSignal.abort()).then(() => ended.push("at once")),
  ];

  await pauses[2];
  clock.advance(1_000);
  await pauses[0];
  ending.abort();
  await pauses[1];

  expect(ended).toEqual(["at once", "time", "signal"]);
});
