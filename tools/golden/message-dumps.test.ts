import { describe, expect, test } from "vitest";
import { comparedText } from "./message-dumps.ts";

describe("the compared part of a message", () => {
  const cases: Record<string, { text: string; want: string }> = {
    "has no rejected object": {
      text: 'spec: Invalid value: {"Name":"a]}\\"","Ports":[{"Port":1}]}: field is immutable',
      want: "spec: Invalid value: field is immutable",
    },
    "keeps a rejected string": {
      text: 'spec.name: Invalid value: "{a": must be a label',
      want: 'spec.name: Invalid value: "{a": must be a label',
    },
    "has none of several rejected lists": {
      text: '[a: Duplicate value: ["x"], b: Unsupported value: {"Type":""}: supported values: "A"]',
      want: '[a: Duplicate value, b: Unsupported value: supported values: "A"]',
    },
    "has no difference of Go structs": {
      text: '[spec: Forbidden: may not change\n@@ -1,3 +1,3 @@\n {\n- "A": 1,\n+ "A": 2,\n }\n, spec.x: Required value]',
      want: "[spec: Forbidden: may not change, spec.x: Required value]",
    },
    "has no list of changed fields": {
      text: "[spec: Forbidden: may not change; changed: `spec.a`,`spec.b[0].c` and 2 more, spec.x: Required value]",
      want: "[spec: Forbidden: may not change, spec.x: Required value]",
    },
  };
  for (const [behaviour, { text, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(comparedText(text)).toBe(want);
    });
  }
});
