import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { conditionsIn, earlierOf, laterOf, putStatus, nonEmpty, wholeStatus } from "./member-status.ts";

const template = { apiVersion: "ray.io/v1", kind: "RayJob", metadata: { name: "train" } };

test("a template keeps its identity while its status is unchanged", () => {
  const running = { ...template, status: { ready: 1 } };

  expect(putStatus(running, { ready: 1 })).toBe(running);
  expect(putStatus(template, {})).toBe(template);
});

test("a changed status does not modify the template", () => {
  expect(putStatus({ ...template, status: { ready: 1 } }, { ready: 2 })).toEqual({ ...template, status: { ready: 2 } });
});

test("a member's status is taken unchanged, without empty conditions", () => {
  const status: Json = { ready: 0, conditions: [{}, { type: "Ready", status: "True" }] };

  expect(wholeStatus({ status })).toEqual({ ready: 0, conditions: [{ type: "Ready", status: "True" }] });
});

test("a member that reports nothing has an empty status", () => {
  expect(wholeStatus({})).toEqual({});
});

const empty: JsonObject[] = [
  {},
  { conditions: null },
  { conditions: "Ready" },
  { conditions: { type: "Ready" } },
  { conditions: [null, "Ready", {}] },
];
for (const status of empty) {
  test(`finds no conditions in ${JSON.stringify(status)}`, () => {
    expect(conditionsIn(status)).toEqual([]);
  });
}

const EARLY = "2024-05-01T11:59:59Z";
const LATE = "2024-05-01T12:00:00Z";
const times: Record<string, { a: string; b: string | null | undefined; earlier: string; later: string }> = {
  "are compared": { a: LATE, b: EARLY, earlier: EARLY, later: LATE },
  "are compared in any order": { a: EARLY, b: LATE, earlier: EARLY, later: LATE },
  "are used when the other one is missing": { a: EARLY, b: undefined, earlier: EARLY, later: EARLY },
  "are used when there is no earlier one": { a: "", b: LATE, earlier: LATE, later: LATE },
  "may both be missing": { a: "", b: null, earlier: "", later: "" },
};
for (const [behaviour, { a, b, earlier, later }] of Object.entries(times)) {
  test(`times ${behaviour}`, () => {
    expect(earlierOf(a, b)).toBe(earlier);
    expect(laterOf(a, b)).toBe(later);
  });
}

test("drops zeros, empty strings, and containers of only those", () => {
  const status: JsonObject = {
    active: 0,
    failed: 1,
    phase: "",
    isPaused: false,
    none: null,
    roles: { ps: { active: 0 }, worker: { active: 2 } },
    conditions: [{ reason: "" }, { type: "Ready" }],
  };

  expect(nonEmpty(status)).toEqual({
    failed: 1,
    isPaused: false,
    roles: { worker: { active: 2 } },
    conditions: [{ type: "Ready" }],
  });
});

test("a key named like a prototype property is an ordinary key", () => {
  const status = nonEmpty(JSON.parse('{"uids":{"__proto__":"u1"}}') as JsonObject);

  expect(JSON.stringify(status)).toBe('{"uids":{"__proto__":"u1"}}');
});
