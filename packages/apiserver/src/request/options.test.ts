import { describe, expect, test } from "vitest";
import { ApiError } from "@flotilla/apimachinery";
import { asksForWatch, listQuery, parseRevision, timeoutMsOf } from "./options.ts";

const FIELD = 'ListOptions.meta.k8s.io "" is invalid: ';

function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.status.message}`;
    throw error;
  }
  return "none";
}

describe("the options of a list", () => {
  const cases: Record<string, { query: string; want: string }> = {
    "resourceVersionMatch requires resourceVersion": {
      query: "resourceVersionMatch=Exact",
      want: `422 ${FIELD}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
    },
    "resourceVersionMatch excludes continue": {
      query: "resourceVersionMatch=Exact&resourceVersion=1&continue=x",
      want: `422 ${FIELD}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`,
    },
    "resourceVersionMatch Exact excludes resourceVersion 0": {
      query: "resourceVersionMatch=Exact&resourceVersion=0",
      want: `422 ${FIELD}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    },
    "resourceVersionMatch is Exact or NotOlderThan": {
      query: "resourceVersionMatch=Foo&resourceVersion=1",
      want: `422 ${FIELD}resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""`,
    },
    "sendInitialEvents is for watches only": {
      query: "sendInitialEvents=false",
      want: `422 ${FIELD}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
    },
    "resourceVersion must be a number": {
      query: "resourceVersion=x",
      want: '400 invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    },
    "limit must be a number": { query: "limit=x", want: '400 strconv.ParseInt: parsing "x": invalid syntax' },
    "limit must be in range": {
      query: "limit=99999999999999999999",
      want: '400 strconv.ParseInt: parsing "99999999999999999999": value out of range',
    },
    "valid options are accepted": {
      query: "resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=5",
      want: "none",
    },
  };
  for (const [behaviour, { query, want }] of Object.entries(cases)) {
    test(`watch validation: ${behaviour}`, () => {
      expect(failureOf(() => listQuery(new URLSearchParams(query), false))).toBe(want);
    });
  }
});

describe("the options of a watch", () => {
  const cases: Record<string, { query: string; want: string }> = {
    "resourceVersionMatch requires sendInitialEvents": {
      query: "resourceVersionMatch=NotOlderThan",
      want: `422 ${FIELD}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
    },
    "sendInitialEvents requires resourceVersionMatch": {
      query: "sendInitialEvents=true",
      want: `422 ${FIELD}resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
    },
    "sendInitialEvents requires NotOlderThan": {
      query: "sendInitialEvents=true&resourceVersionMatch=Exact",
      want:
        `422 ${FIELD}[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch ` +
        `to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
    },
    "resourceVersion must be a number": {
      query: "resourceVersion=x",
      want: '500 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    },
    "valid options are accepted": {
      query: "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      want: "none",
    },
  };
  for (const [behaviour, { query, want }] of Object.entries(cases)) {
    test(`watch validation: ${behaviour}`, () => {
      expect(failureOf(() => listQuery(new URLSearchParams(query), true))).toBe(want);
    });
  }

  test("watch is true for all values except 0 and false", () => {
    const values = ["watch", "watch=", "watch=1", "watch=no", "watch=0", "watch=FALSE", ""];

    expect(values.map((query) => asksForWatch(new URLSearchParams(query)))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test("an invalid resourceVersion on a get returns 500", () => {
    expect(failureOf(() => parseRevision("-1", "get"))).toMatch(/^500 /);
  });
});

describe("a request's own timeout", () => {
  const cases: Record<string, number | undefined | string> = {
    "": undefined,
    "0": undefined,
    "0s": undefined,
    "1h": undefined,
    "10s": 10_000,
    "1m500ms": undefined,
    "1.5s": 1500,
    x: '400 invalid timeout specified in the request URL - time: invalid duration "x"',
    "10": '400 invalid timeout specified in the request URL - time: invalid duration "10"',
  };
  for (const [timeout, want] of Object.entries(cases)) {
    test(`timeout ${timeout || "none"} is ${want === undefined ? "what every request has" : want}`, () => {
      const read = (): number | undefined => timeoutMsOf(new URLSearchParams({ timeout }), 60_000);

      expect(failureOf(read) === "none" ? read() : failureOf(read)).toBe(want);
    });
  }
});
