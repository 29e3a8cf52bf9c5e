import { describe, expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

describe("the fields that an update of an immutable object changes", () => {
  const cases: Record<string, { before: unknown; after: unknown; want: string }> = {
    "are none for equal objects": { before: { a: [1] }, after: { a: [1] }, want: "" },
    "are listed by their innermost path": {
      before: { hostname: "a", containers: [{ name: "c", image: "x" }] },
      after: { hostname: "b", containers: [{ name: "d", image: "x" }] },
      want: "; changed: `spec.hostname`,`spec.containers[0].name`",
    },
    "include added and removed fields": {
      before: { hostname: "a" },
      after: { subdomain: "b" },
      want: "; changed: `spec.hostname`,`spec.subdomain`",
    },
    "name a list with more items as a whole": {
      before: { tolerations: [{ key: "a" }] },
      after: { tolerations: [{ key: "b" }, { key: "a" }] },
      want: "; changed: `spec.tolerations`",
    },
    "do not include inherited keys": {
      before: {},
      after: JSON.parse('{ "constructor": "x" }'),
      want: "; changed: `spec.constructor`",
    },
    "are at most ten": {
      before: Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a${index}`, 1])),
      after: {},
      want: `; changed: ${Array.from({ length: 10 }, (_, index) => `\`spec.a${index}\``).join(",")} and 2 more`,
    },
  };
  for (const [behaviour, { before, after, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(changedFields(before, after, "spec")).toBe(want);
    });
  }
});
