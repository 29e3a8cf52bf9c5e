import { expect, test } from "vitest";
import type { Json } from "../../base/index.ts";
import { infiniteNumber, wellFormed } from "./exact-json.ts";

const numbers: Record<string, { text: string; want: string | undefined }> = {
  "a number beyond every number is found as it was written": { text: '{"a":[1,-1.5e+400]}', want: "-1.5e+400" },
  "so is one of too many digits": { text: `[${"9".repeat(400)}]`, want: "9".repeat(400) },
  "the largest number is one": { text: "[1.7976931348623157e308]", want: undefined },
  "a number that is too small is zero": { text: "[1e-999]", want: undefined },
  "a text is no number": { text: '{"1e999":"\\"1e999"}', want: undefined },
};
for (const [behaviour, { text, want }] of Object.entries(numbers)) {
  test(behaviour, () => {
    expect(infiniteNumber(text)).toBe(want);
  });
}

const surrogates: Record<string, { text: string; want: Json }> = {
  "half of a surrogate pair is replaced in values and in keys": {
    text: '{"a\\ud800":["\\udc00b"]}',
    want: { "a\uFFFD": ["\uFFFDb"] },
  },
  "a whole pair stays": { text: '{"\\ud83d\\udc69":"\\ud83d\\udc69"}', want: { "👩": "👩" } },
  "a key stays an ordinary one beside it": {
    text: '{"__proto__":"\\ud800"}',
    want: JSON.parse('{"__proto__":"\uFFFD"}') as Json,
  },
};
for (const [behaviour, { text, want }] of Object.entries(surrogates)) {
  test(behaviour, () => {
    expect(JSON.stringify(wellFormed(JSON.parse(text) as Json, text))).toBe(JSON.stringify(want));
  });
}
