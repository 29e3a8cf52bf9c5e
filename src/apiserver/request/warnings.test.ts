import { expect, test } from "vitest";
import { warningHeaders } from "./warnings.ts";

/** What a client that reads UTF-8 sees. */
const seen = (...texts: string[]): string[] =>
  warningHeaders(new Set(texts)).map((header) => Buffer.from(header, "latin1").toString());

const cases: Record<string, { text: string; want: string }> = {
  "a text is quoted": { text: "old", want: '299 - "old"' },
  "quotes and backslashes are escaped": { text: 'unknown field "a\\b"', want: '299 - "unknown field \\"a\\\\b\\""' },
  "control characters cannot end a header": { text: "a\r\nset-cookie: x\u0000", want: '299 - "a  set-cookie: x "' },
  "characters of any script arrive": { text: "é 中 👩‍🚀", want: '299 - "é 中 👩‍🚀"' },
  "half of a surrogate pair becomes the sign for what cannot be shown": { text: "x\uD800", want: '299 - "x\uFFFD"' },
};
for (const [behaviour, { text, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(seen(text)).toEqual([want]);
  });
}

test("a header holds only what HTTP allows", () => {
  for (const header of warningHeaders(new Set(["中", "\uD800", "\u007F", "é"])))
    expect(header).toMatch(/^[\x20-\x7e\x80-\xff]*$/);
});

test("texts of 4096 characters in all are left whole", () => {
  expect(seen("a".repeat(4000), "b".repeat(96)).map(({ length }) => length)).toEqual([4008, 104]);
});

test("texts that are longer in all are cut to 256 characters each", () => {
  expect(seen("👩".repeat(300), "short", "b".repeat(5000))).toEqual([
    `299 - "${"👩".repeat(256)}"`,
    '299 - "short"',
    `299 - "${"b".repeat(256)}"`,
  ]);
});

test("what does not fit even then is left out", () => {
  expect(seen(...Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(1000, "x")))).toHaveLength(16);
});
