import { describe, expect, test } from "vitest";
import {
  everything,
  formatLabelSelector,
  labelSelectorOf,
  matchesLabels,
  nothing,
  parseLabelSelector,
} from "./labels.ts";

const web = { app: "web", tier: "front", replicas: "3" };

const matching: Record<string, [selector: string, labels: Record<string, string> | undefined, want: boolean]> = {
  "an empty selector matches everything": ["", web, true],
  "an empty selector matches an object without labels": ["", undefined, true],
  "equality compares the value": ["app=web", web, true],
  "== is equivalent to =": ["app==db", web, false],
  "inequality matches an absent key": ["zone!=a", web, true],
  "inequality fails on the value": ["app!=web", web, false],
  "in matches one of several values": ["app in (db, web)", web, true],
  "in fails on an absent key": ["zone in (a)", web, false],
  "notin matches an absent key": ["zone notin (a,b)", web, true],
  "notin fails on a listed value": ["app notin (web)", web, false],
  "a bare key requires existence": ["tier", web, true],
  "an exclamation mark requires absence": ["!tier", web, false],
  "comma means and": ["app=web,tier=back", web, false],
  "an empty value can be matched": ["x=", { x: "" }, true],
  "an empty value can be in a set": ["x in (,a)", { x: "" }, true],
  "keys of Object.prototype are not labels": ["constructor", {}, false],
  "greater-than compares integers": ["replicas>2", web, true],
  "less-than fails on text": ["app<2", web, false],
};
for (const [behaviour, [selector, labels, want]] of Object.entries(matching)) {
  test(behaviour, () => {
    expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(want);
  });
}

describe("an invalid selector is a bad request", () => {
  const refused: Record<string, string> = {
    "x in": "unable to parse requirement: found '' expected: '('",
    "x in (": "unable to parse requirement: found '', expected: ',', ')' or identifier",
    "x notin": "unable to parse requirement: found '' expected: '('",
    "a b": "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    "!!x": "unable to parse requirement: found '!', expected: identifier",
    "x in (a b)": "unable to parse requirement: found 'b', expected: ',' or ')'",
    "Bad_Prefix!/x=1": "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
    "x>abc": `unable to parse requirement: values[0]: Invalid value: "abc": for 'Gt', 'Lt' operators, the value must be an integer`,
  };
  for (const [selector, message] of Object.entries(refused)) {
    test(selector, () => {
      expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ message, code: "BadRequest" }));
    });
  }
});

test("all errors of a key are reported, and non-printable characters are escaped", () => {
  expect(() => parseLabelSelector("example.com/=a")).toThrow(
    /^unable to parse requirement: <nil>: Invalid value: "example\.com\/": name part must be non-empty; name part must consist of /,
  );
  expect(() => parseLabelSelector("a=\u202eb")).toThrow(
    String.raw`values[0][a]: Invalid value: "\u202eb": a valid label must be`,
  );
});

test("only spaces, tabs and line ends separate words", () => {
  expect(matchesLabels(parseLabelSelector("a\t=\r\nb"), { a: "b" })).toBe(true);
  expect(() => parseLabelSelector("a\u00a0=b")).toThrow("name part must consist of");
});

test("compared numbers have 64 bits, regardless of leading zeros", () => {
  expect(matchesLabels(parseLabelSelector("n>9223372036854775806"), { n: "9223372036854775807" })).toBe(true);
  expect(matchesLabels(parseLabelSelector("n<8"), { n: "00000000000000000000000007" })).toBe(true);
  expect(matchesLabels(parseLabelSelector("n>1"), { n: "9223372036854775808" })).toBe(false);
  expect(() => parseLabelSelector("n>9223372036854775808")).toThrow("the value must be an integer");
});

test("a selector object combines labels and expressions", () => {
  const selector = labelSelectorOf({
    matchLabels: { app: "web" },
    matchExpressions: [{ key: "tier", operator: "NotIn", values: ["back"] }],
  });

  expect(matchesLabels(selector, web)).toBe(true);
  expect(matchesLabels(selector, { app: "web", tier: "back" })).toBe(false);
});

test("an absent selector object selects nothing and an empty one everything", () => {
  expect(labelSelectorOf(undefined)).toBe(nothing);
  expect(labelSelectorOf({})).toBe(everything);
  expect(matchesLabels(nothing, web)).toBe(false);
});

test("an unknown operator of a selector object is a bad request", () => {
  expect(() => labelSelectorOf({ matchExpressions: [{ key: "a", operator: "constructor" }] })).toThrow(
    '"constructor" is not a valid label selector operator',
  );
});

test("the text form is sorted by key and by value", () => {
  const selector = {
    matchLabels: { b: "2", a: "1" },
    matchExpressions: [
      { key: "c", operator: "In", values: ["z", "y"] },
      { key: "d", operator: "DoesNotExist" },
    ],
  };

  expect(formatLabelSelector(selector)).toBe("a=1,b=2,c in (y,z),!d");
});

test("a formatted selector parses to the same selector", () => {
  const text = "a=1,b!=2,c in (y,z),!d,e";

  expect(formatLabelSelector(parseLabelSelector(text))).toBe(text);
});
