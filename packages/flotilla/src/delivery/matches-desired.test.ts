import { describe, expect, test } from "vitest";
import { holdsIn, withoutPath } from "./matches-desired.ts";

const cases: Record<string, { desired: unknown; observed: unknown; want: boolean }> = {
  "a default that the member added is not a difference": {
    desired: { spec: { replicas: 3 } },
    observed: { spec: { replicas: 3, paused: false } },
    want: true,
  },
  "another value is a difference": { desired: { replicas: 3 }, observed: { replicas: 4 }, want: false },
  "a missing field is a difference": { desired: { replicas: 3 }, observed: {}, want: false },
  "defaults inside list elements are not a difference": {
    desired: [{ name: "a" }],
    observed: [{ name: "a", protocol: "TCP" }],
    want: true,
  },
  "an extra list element is a difference": {
    desired: [{ name: "a" }],
    observed: [{ name: "a" }, { name: "b" }],
    want: false,
  },
  "an empty map dropped by the server is not a difference": {
    desired: { securityContext: {} },
    observed: {},
    want: true,
  },
  "null in a manifest matches a missing field": { desired: { replicas: null }, observed: {}, want: true },
};
describe("desired fields hold in the observed object", () => {
  for (const [behaviour, { desired, observed, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(holdsIn(desired, observed)).toBe(want);
    });
  }
});

test("removes a path without changing the original", () => {
  const object = { spec: { replicas: 3, paused: true } };

  expect(withoutPath(object, "spec.replicas")).toEqual({ spec: { paused: true } });
  expect(withoutPath(object, "spec.absent.deeper")).toEqual(object);
  expect(object).toEqual({ spec: { replicas: 3, paused: true } });
});
