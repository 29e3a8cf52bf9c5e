import { expect, test } from "vitest";
import { warningHeaders } from "./warnings.ts";

/** The warnings that a client that decodes UTF-8 receives. */
const seen = (...texts: string[]): string[] =>
  warningHeaders(new Set(texts)).map((header) => Buffer.from(header, "latin1").toString());

const cases: Record<string, { text: string; want: string }> = {
  "a text is quoted": { text: "old", want: '299 - "old"' },
  "quotes and backslashes are escaped": { text: 'unknown field "a\\b"', want: '299 - "unknown field \\"a\\\\b\\""' },
  "control characters cannot end a header": { text: "a\r\nset-cookie: x\u0000", want: '299 - "a  set-cookie: x "' },
  "characters of any script are preserved": { text: "é 中 👩‍🚀", want: '299 - "é 中 👩‍🚀"' },
  "half of a surrogate pair becomes the replacement character": { text: "x\uD800", want: '299 - "x\uFFFD"' },
};
for (const [behaviour, { text, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(seen(text)).toEqual([want]);
  });
}

test("a header contains only characters that HTTP allows", () => {
  for (const header of warningHeaders(new Set(["中", "\uD800", "\u007F", "é"])))
    expect(header).toMatch(/^[\x20-\x7e\x80-\xff]*$/);
});

test("texts of 4096 characters in total are kept", () => {
  expect(seen("a".repeat(4000), "b".repeat(96)).map(({ length }) => length)).toEqual([4008, 104]);
});

test("texts beyond the total are truncated to 256 characters each", () => {
  expect(seen("👩".repeat(300), "short", "b".repeat(5000))).toEqual([
    `299 - "${"👩".repeat(256)}"`,
    '299 - "short"',
    `299 - "${"b".repeat(256)}"`,
  ]);
});

test("texts that still do not fit are omitted", () => {
  expect(seen(...Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(1000, "x")))).toHaveLength(16);
});
