import { expect, test } from "vitest";
import { parseFieldSelector } from "./fields.ts";

test("terms are joined by commas, compare with one, two or a negated equals sign, and come in order", () => {
  expect(parseFieldSelector("metadata.name=a,status.phase!=Running,spec.nodeName==")).toEqual([
    { path: "metadata.name", op: "=", value: "a" },
    { path: "spec.nodeName", op: "=", value: "" },
    { path: "status.phase", op: "!=", value: "Running" },
  ]);
});

test("a path may have an exclamation mark, and an empty term is ignored", () => {
  expect(parseFieldSelector("a!b=c,=,!=")).toEqual([{ path: "a!b", op: "=", value: "c" }]);
});

test("of several errors, that of the first term in order is reported", () => {
  expect(() => parseFieldSelector("b=c=d,a")).toThrow("can't understand 'a'");
});

test("an empty selector has no terms", () => {
  expect(parseFieldSelector("")).toEqual([]);
});

test("a backslash escapes commas, equals signs and itself", () => {
  expect(parseFieldSelector(String.raw`a=b\,c\=d\\`)).toEqual([
    { path: "a", op: "=", value: String.raw`b,c=d\ `.trim() },
  ]);
});

const refused: Record<string, string> = {
  "metadata.name": "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
  "metadata.name in (a)": "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
  "a=b=c": "invalid field selector: unescaped character in value: 61",
  [String.raw`a=\q`]: String.raw`invalid field selector: invalid escape sequence: \q`,
};
for (const [selector, message] of Object.entries(refused)) {
  test(`${selector} is a bad request`, () => {
    expect(() => parseFieldSelector(selector)).toThrow(expect.objectContaining({ message, code: "BadRequest" }));
  });
}
