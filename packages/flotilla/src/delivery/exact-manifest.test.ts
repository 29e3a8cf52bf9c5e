import { expect, test } from "vitest";
import { isInvalid } from "@flotilla/apimachinery";
import { checkExact } from "./exact-manifest.ts";

const widget = (spec: string) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w" },
  spec: JSON.parse(spec) as unknown,
});

test("a manifest without large integers is written as it is", () => {
  const manifest = widget('{"n":9007199254740991}');

  expect(checkExact(manifest)).toBe(manifest);
});

test("a retained integer that would be rounded on the member is rejected with its field", () => {
  const check = (): unknown => checkExact(widget('{"n":9007199254740993}'));

  expect(check).toThrow('Widget.example.com "w" is invalid: spec.n: Invalid value: "integer": must be between');
  expect(check).toThrow(expect.toSatisfy(isInvalid) as Error);
});
