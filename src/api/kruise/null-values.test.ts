import { expect, test } from "vitest";
import { withoutNulls } from "./null-values.ts";

const cases: Record<string, { given: object; want: object }> = {
  "a field that is null is not given": {
    given: { template: { metadata: { labels: null, name: "a" }, spec: null } },
    want: { template: { metadata: { name: "a" } } },
  },
  "a label that is null is empty": {
    given: { template: { metadata: { labels: { app: null } } } },
    want: { template: { metadata: { labels: { app: "" } } } },
  },
  "a container that is null is one without anything": {
    given: { template: { spec: { containers: [null, { name: "b", args: [null] }] } } },
    want: { template: { spec: { containers: [{}, { name: "b", args: [""] }] } } },
  },
  "an amount that is null is none": {
    given: { template: { spec: { containers: [{ resources: { limits: { cpu: null } } }] } } },
    want: { template: { spec: { containers: [{ resources: { limits: { cpu: "0" } } }] } } },
  },
  "what the type does not have stays as it is": {
    given: { mystery: { a: null }, template: { spec: { odd: null } } },
    want: { mystery: { a: null }, template: { spec: { odd: null } } },
  },
  "what is of the wrong type is for others to refuse": {
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

test("an object without nulls is the very same", () => {
  const object = {
    spec: { template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", args: ["a"] }] } } },
  };

  expect(withoutNulls("apps-kruise-v1alpha1", "CloneSet", object)).toBe(object);
});
