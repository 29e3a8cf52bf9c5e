import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { infiniteNumber, wellFormed } from "./exact-json.ts";

const numbers: Record<string, { text: string; want: string | undefined }> = {
  "finds a number beyond the float64 range as it was written": { text: '{"a":[1,-1.5e+400]}', want: "-1.5e+400" },
  "finds a number with too many digits": { text: `[${"9".repeat(400)}]`, want: "9".repeat(400) },
  "accepts the largest number": { text: "[1.7976931348623157e308]", want: undefined },
  "a number that is too small is zero": { text: "[1e-999]", want: undefined },
  "ignores digits in a string": { text: '{"1e999":"\\"1e999"}', want: undefined },
};
for (const [behaviour, { text, want }] of Object.entries(numbers)) {
  test(behaviour, () => {
    expect(infiniteNumber(text)).toBe(want);
  });
}

const surrogates: Record<string, { text: string; want: Json }> = {
  "replaces half of a surrogate pair in values and keys": {
    text: '{"a\\ud800":["\\udc00b"]}',
    want: { "a\uFFFD": ["\uFFFDb"] },
  },
  "keeps a whole surrogate pair": { text: '{"\\ud83d\\udc69":"\\ud83d\\udc69"}', want: { "👩": "👩" } },
  "keeps an ordinary key next to a replaced one": {
    text: '{"__proto__":"\\ud800"}',
    want: JSON.parse('{"__proto__":"\uFFFD"}') as Json,
  },
};
for (const [behaviour, { text, want }] of Object.entries(surrogates)) {
  test(behaviour, () => {
    expect(JSON.stringify(wellFormed(JSON.parse(text) as Json, text))).toBe(JSON.stringify(want));
  });
}
