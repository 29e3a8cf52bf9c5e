import { describe, expect, test } from "vitest";
import { plain } from "../paint.ts";
import { fieldOf, withoutField } from "./field-of-message.ts";
import { pointerSteps, valueAt } from "./fields.ts";
import { createLineNumbers } from "./line-numbers.ts";
import { renderLint } from "./render-lint.ts";
import { contradictionIn } from "./selectors.ts";

describe("line numbers:", () => {
  const text = [
    "spec:",
    "  items:",
    "    - name: a",
    "      value: 1",
    "    - { name: b, value: 2 }",
    "  script: |",
    "    one",
    "    two",
    "  last: true",
  ].join("\n");
  const lineOf = createLineNumbers(text);
  const cases: Record<string, { path: (string | number)[]; want: number | undefined }> = {
    "a field has the line of its key": { path: ["spec", "items"], want: 2 },
    "an item has the line of its first field": { path: ["spec", "items", 1], want: 5 },
    "a field of an item": { path: ["spec", "items", 0, "value"], want: 4 },
    "a field after a multi-line string": { path: ["spec", "last"], want: 9 },
    "a missing field has the line of the nearest enclosing field": {
      path: ["spec", "items", 0, "nothing", "deeper"],
      want: 3,
    },
    "an unknown path has no line": { path: ["status"], want: undefined },
  };
  for (const [behaviour, { path, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(lineOf(path)).toBe(want);
    });
  }
});

describe("the field of a message:", () => {
  const cases: Record<string, { message: string; want: (string | number)[] | undefined }> = {
    "a rejected field": {
      message: 'Deployment.apps "web" is invalid: spec.template.spec.containers[0].image: Required value',
      want: ["spec", "template", "spec", "containers", 0, "image"],
    },
    "an unknown field": {
      message: 'strict decoding error: unknown field "spec.strateggy"',
      want: ["spec", "strateggy"],
    },
    "a key in brackets": {
      message: "metadata.annotations[a/b]: Invalid value",
      want: ["metadata", "annotations", "a/b"],
    },
    "no field": { message: "namespaces not found", want: undefined },
  };
  for (const [behaviour, { message, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(fieldOf(message)).toEqual(want);
    });
  }

  test("is not repeated in the message", () => {
    expect(withoutField("spec.size: Required value", ["spec", "size"])).toBe("Required value");
    expect(withoutField("spec.size is shorthand", ["spec", "size"])).toBe("is shorthand");
    expect(withoutField("spec.sizes: Required value", ["spec", "size"])).toBe("spec.sizes: Required value");
    expect(withoutField("in spec.size: Required value", ["spec", "size"])).toBe("in spec.size: Required value");
  });
});

describe("label requirements:", () => {
  const expression = (
    key: string,
    operator: string,
    ...values: string[]
  ): { key: string; operator: string; values: string[] } => ({ key, operator, values });
  const cases: Record<string, { selector: object; want: string | undefined }> = {
    "different keys are compatible": {
      selector: { matchLabels: { a: "1" }, matchExpressions: [expression("b", "NotIn", "1")] },
      want: undefined,
    },
    "a value that is also excluded": {
      selector: { matchLabels: { a: "1" }, matchExpressions: [expression("a", "NotIn", "1")] },
      want: "a would have to be 1, but not 1",
    },
    "two values for one key": {
      selector: { matchLabels: { a: "1" }, matchExpressions: [expression("a", "In", "2", "3")] },
      want: "a would have to be 1 and 2 or 3",
    },
    "Exists and DoesNotExist": {
      selector: { matchExpressions: [expression("a", "Exists"), expression("a", "DoesNotExist")] },
      want: "a must both exist and not exist",
    },
    "overlapping values are compatible": {
      selector: { matchExpressions: [expression("a", "In", "1", "2"), expression("a", "In", "2", "3")] },
      want: undefined,
    },
    "an invalid selector is left to the hub": { selector: { matchExpressions: 7 }, want: undefined },
  };
  for (const [behaviour, { selector, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(contradictionIn(selector as never)).toBe(want);
    });
  }
});

test("only own keys of a manifest are fields", () => {
  expect(valueAt({ spec: {} }, "spec", "constructor")).toBeUndefined();
  expect(valueAt({ spec: null }, "spec", "a")).toBeUndefined();
  expect(pointerSteps("/metadata/annotations/a~1b~0c")).toEqual(["metadata", "annotations", "a/b~c"]);
});

test("the text shows the fix of a rule once, fits eighty columns, and contains no control characters", () => {
  const finding = {
    rule: "policies-tie",
    severity: "warning" as const,
    file: "a.yaml",
    object: "PropagationPolicy shop/web",
    message: "another \u001b[31mone selects it, too",
    why: "",
    fix: "Give the intended policy a higher `priority`, or make the selectors disjoint.",
    doc: "",
  };

  const text = renderLint(
    {
      findings: [
        { ...finding, line: 3 },
        { ...finding, line: 9 },
      ],
      errors: 0,
      warnings: 2,
      ignored: 1,
      manifests: 4,
      files: 1,
      passedOver: 0,
    },
    { paint: plain, width: 80 },
  );

  expect(text.split("\n")).toEqual([
    "a.yaml:3  warning  policies-tie",
    "  PropagationPolicy shop/web: another [31mone selects it, too",
    "  fix: Give the intended policy a higher priority, or make the selectors",
    "    disjoint.",
    "",
    "a.yaml:9  warning  policies-tie",
    "  PropagationPolicy shop/web: another [31mone selects it, too",
    "",
    "0 errors, 2 warnings, 1 silenced in 4 manifests in 1 file; run 'flotilla lint --list' for the reasons",
  ]);
});
