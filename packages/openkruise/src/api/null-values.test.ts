import { expect, test } from "vitest";
import { withoutNulls } from "./null-values.ts";

const cases: Record<string, { given: object; want: object }> = {
  "a null field is absent": {
    given: { template: { metadata: { labels: null, name: "a" }, spec: null } },
    want: { template: { metadata: { name: "a" } } },
  },
  "a null label is empty": {
    given: { template: { metadata: { labels: { app: null } } } },
    want: { template: { metadata: { labels: { app: "" } } } },
  },
  "a null container is an empty one": {
    given: { template: { spec: { containers: [null, { name: "b", args: [null] }] } } },
    want: { template: { spec: { containers: [{}, { name: "b", args: [""] }] } } },
  },
  "a null quantity is zero": {
    given: { template: { spec: { containers: [{ resources: { limits: { cpu: null } } }] } } },
    want: { template: { spec: { containers: [{ resources: { limits: { cpu: "0" } } }] } } },
  },
  "fields unknown to the type are unchanged": {
    given: { mystery: { a: null }, template: { spec: { odd: null } } },
    want: { mystery: { a: null }, template: { spec: { odd: null } } },
  },
  "values of the wrong type are left to validation": {
    given: { template: { spec: { containers: "none" } } },
    want: { template: { spec: { containers: "none" } } },
  },
};
for (const [behaviour, { given, want }] of Object.entries(cases)) {
  // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
  test(behaviour, () => {
    const spec = withoutNulls("apps-kruise-v1alpha1", "CloneSet", { spec: given as never })["spec"];

    expect(spec).toEqual(want);
  });
}

test("an object without nulls is returned unchanged", () => {
  const object = {
    spec: { template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", args: ["a"] }] } } },
  };

  expect(withoutNulls("apps-kruise-v1alpha1", "CloneSet", object)).toBe(object);
});
