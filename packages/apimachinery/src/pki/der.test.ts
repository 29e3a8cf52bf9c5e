import { expect, test } from "vitest";
import { checkBits, checkBoolean, DerError, derItems, identifierOf, readDer } from "./der-reader.ts";
import { textOf } from "./der-strings.ts";
import { der } from "./der-writer.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const cases: Record<string, { value: Buffer; want: string }> = {
  "a positive integer whose first bit is set gets a leading zero": {
    value: der.integer(Buffer.from([0x80])),
    want: "02020080",
  },
  "an object identifier shares a byte for its first two numbers": {
    value: der.identifier("1.2.840.10045.4.3.2"),
    want: "06082a8648ce3d040302",
  },
  "a bit string records its number of unused bits": {
    value: der.bits(Buffer.from([0x86]), 1),
    want: "03020186",
  },
  "text is UTF-8": { value: der.utf8("é"), want: "0c02c3a9" },
  "a year before 2050 has two digits": {
    value: der.time(Date.UTC(2049, 11, 31, 23, 59, 59)),
    want: `170d${hex(Buffer.from("491231235959Z"))}`,
  },
  "a year from 2050 on has four": {
    value: der.time(Date.UTC(2050, 0, 1)),
    want: `180f${hex(Buffer.from("20500101000000Z"))}`,
  },
  "false and true are one byte": {
    value: der.sequence(der.boolean(false), der.boolean(true)),
    want: "30060101000101ff",
  },
};
for (const [behaviour, { value, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(hex(value)).toBe(want);
  });
}

for (const length of [0, 127, 128, 255, 256, 70_000]) {
  test(`content of ${length} bytes round-trips`, () => {
    const value = der.bytes(Buffer.alloc(length, 7));

    const [first, second] = derItems(readDer(der.sequence(value, der.boolean(true))));

    expect(hex(first?.whole ?? new Uint8Array())).toBe(hex(value));
    expect(first?.content.byteLength).toBe(length);
    expect(hex(second?.whole ?? new Uint8Array())).toBe("0101ff");
  });
}

for (const dotted of ["1.2.840.10045.4.3.2", "2.5.29.37.0", "1.2.840.113556.1.8000.2554.50872.14197857"]) {
  test(`object identifier ${dotted} round-trips`, () => {
    expect(identifierOf(readDer(der.identifier(dotted)))).toBe(dotted);
  });
}

const refusals: Record<string, { bytes: number[]; want: string }> = {
  nothing: { bytes: [], want: "it is truncated" },
  "a tag alone": { bytes: [0x30], want: "it is truncated" },
  "content shorter than its length": { bytes: [0x30, 0x02, 0x05], want: "it is truncated" },
  "content longer than its length": { bytes: [0x30, 0x00, 0x05], want: "unexpected data after its end" },
  "an indefinite length": { bytes: [0x30, 0x80, 0x00, 0x00], want: "its length is not valid DER" },
  "a length of too many bytes": { bytes: [0x30, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1], want: "its length is not valid DER" },
  "a length that is not in the shortest form": {
    bytes: [0x04, 0x81, 0x01, 0x00],
    want: "its length is not in the shortest form",
  },
  "a length with a leading zero": {
    bytes: [0x04, 0x82, 0x00, 0x80],
    want: "its length is not in the shortest form",
  },
  "a multi-byte tag": { bytes: [0x1f, 0x01, 0x00], want: "it has a tag of several bytes" },
};
test.each([[[1]], [[0x80, 0]], [[]]])("a boolean of the bytes %j is rejected", (content) => {
  expect(() => checkBoolean(readDer(Uint8Array.from([1, content.length, ...content])))).toThrow(DerError);
});

test.each([[[]], [[8, 0x80]], [[1]], [[3, 0x84]]])("a bit string of the bytes %j is rejected", (content) => {
  expect(() => checkBits(readDer(Uint8Array.from([3, content.length, ...content])), "it")).toThrow(
    "it is not a valid bit string",
  );
});

test("an object identifier with a part that is not in the shortest form is rejected", () => {
  expect(() => identifierOf(readDer(Uint8Array.from([6, 3, 0x55, 0x80, 4])))).toThrow(
    "an object identifier is not in the shortest form",
  );
});

for (const [what, { bytes, want }] of Object.entries(refusals)) {
  test(`${what} is rejected`, () => {
    expect(() => readDer(Uint8Array.from(bytes))).toThrow(new DerError(want));
  });
}

test.each([[[0x61]], [[0xd8, 0]]])("a BMPString of the bytes %j is rejected", (content) => {
  expect(() => textOf(readDer(Uint8Array.from([0x1e, content.length, ...content])), "it")).toThrow(DerError);
});
