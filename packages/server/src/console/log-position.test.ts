import { describe, expect, test } from "vitest";
import { createLogPosition } from "./log-position.ts";

type Line = [time: string, text: string];

const cases: Record<string, { first: Line[]; again: Line[]; want: string[]; since: string }> = {
  "a new request repeats the lines of the last second": {
    first: [
      ["12:00:01.1Z", "a"],
      ["12:00:01.2Z", "b"],
    ],
    again: [
      ["12:00:01.1Z", "a"],
      ["12:00:01.2Z", "b"],
      ["12:00:01.3Z", "c"],
    ],
    want: ["a", "b", "c"],
    since: "12:00:01.3Z",
  },
  "equal lines with one time stamp are all read": {
    first: [
      ["12:00:01Z", "a"],
      ["12:00:01Z", "a"],
    ],
    again: [
      ["12:00:01Z", "a"],
      ["12:00:01Z", "a"],
      ["12:00:01Z", "a"],
    ],
    want: ["a", "a", "a"],
    since: "12:00:01Z",
  },
  "a new line with the time stamp of the last one is read": {
    first: [["12:00:01Z", "a"]],
    again: [
      ["12:00:01Z", "a"],
      ["12:00:01Z", "b"],
    ],
    want: ["a", "b"],
    since: "12:00:01Z",
  },
  "fractions of seconds have any number of digits": {
    first: [["12:00:01.12Z", "a"]],
    again: [
      ["12:00:01.1Z", "older"],
      ["12:00:01.12Z", "a"],
      ["12:00:01.123Z", "b"],
    ],
    want: ["a", "b"],
    since: "12:00:01.123Z",
  },
  "a clock that is set back loses no lines": {
    first: [
      ["12:00:05Z", "a"],
      ["12:00:01Z", "b"],
    ],
    again: [],
    want: ["a", "b"],
    since: "12:00:05Z",
  },
  "a log without lines is read from its beginning": {
    first: [],
    again: [["12:00:01Z", "a"]],
    want: ["a"],
    since: "12:00:01Z",
  },
};

describe("how far a log was read", () => {
  for (const [what, { first, again, want, since }] of Object.entries(cases)) {
    test(what, () => {
      const position = createLogPosition();
      const read = (lines: Line[]): string[] => {
        position.resume();
        return lines.filter(([time, text]) => position.accept(time, text)).map(([, text]) => text);
      };

      expect([...read(first), ...read(again)]).toEqual(want);
      expect(position.since).toBe(since);
    });
  }
});
