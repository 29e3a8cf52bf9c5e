import { describe, expect, test } from "vitest";
import { hasLongDigits, inexactIntegers, withoutInexactIntegers } from "./exact-integers.ts";

const texts: Record<string, { text: string; want: boolean }> = {
  "fifteen digits are not long": { text: `{"a":${"1".repeat(15)}}`, want: false },
  "sixteen digits are long": { text: `{"a":${"1".repeat(16)}}`, want: true },
  "a text that ends in sixteen digits": { text: "9".repeat(16), want: true },
  "digits with a gap are not long": { text: "12345678901.2345678901", want: false },
  "an empty text": { text: "", want: false },
};
describe.each(Object.entries(texts))("%s", (_behaviour, { text, want }) => {
  test("is recognized at every offset, in text and bytes", () => {
    const found = Array.from({ length: 33 }, (_, offset) => {
      const moved = " ".repeat(offset) + text;
      return [hasLongDigits(moved), hasLongDigits(Buffer.from(moved))];
    });

    expect(found).toEqual(Array.from({ length: 33 }, () => [want, want]));
  });
});

const parse = (text: string): unknown => JSON.parse(text) as unknown;
const values: Record<string, { text: string; want: string[] }> = {
  "the largest exact integers": { text: '{"a":9007199254740991,"b":-9007199254740991}', want: [] },
  "the next ones": { text: '{"a":9007199254740992,"b":[-9007199254740993]}', want: ["a", "b[0]"] },
  "an integer of 64 bits": { text: '{"spec":{"n":9223372036854775807}}', want: ["spec.n"] },
  "fractions, and numbers beyond 64 bits": { text: '{"a":0.12345678901234567,"b":1e300}', want: [] },
  "digits in a string": { text: '{"a":"9223372036854775807"}', want: [] },
};
test.each(Object.entries(values))("finds integers that are not exact: %s", (_what, { text, want }) => {
  expect([...inexactIntegers(parse(text)).keys()]).toEqual(want);
});

test("leaves out what is not exact, and names it", () => {
  const status = parse('{"ready":1,"at":1700000000000000001,"items":[1,9007199254740993],"__proto__":{"n":2}}');

  const { value, omitted } = withoutInexactIntegers(status);

  expect(JSON.stringify(value)).toBe('{"ready":1,"items":[1,null],"__proto__":{"n":2}}');
  expect(omitted).toEqual(["at", "items[1]"]);
});
