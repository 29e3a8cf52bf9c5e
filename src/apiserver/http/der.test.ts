import { expect, test } from "vitest";
import { der, derChildren, derContent } from "./der.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const cases: Record<string, { value: Buffer; want: string }> = {
  "a positive integer whose first bit is set gets a leading zero": { value: der.integer(Buffer.from([0x80])), want: "02020080" },
  "an object identifier shares a byte for its first two numbers": { value: der.identifier("1.2.840.10045.4.3.2"), want: "06082a8648ce3d040302" },
  "a bit string says how many bits at its end mean nothing": { value: der.bits(Buffer.from([0x86]), 1), want: "03020186" },
  "text is UTF-8": { value: der.utf8("é"), want: "0c02c3a9" },
  "a year before 2050 has two digits": { value: der.time(Date.UTC(2049, 11, 31, 23, 59, 59)), want: `170d${hex(Buffer.from("491231235959Z"))}` },
  "a year from 2050 on has four": { value: der.time(Date.UTC(2050, 0, 1)), want: `180f${hex(Buffer.from("20500101000000Z"))}` },
  "false and true are one byte": { value: der.sequence(der.boolean(false), der.boolean(true)), want: "30060101000101ff" },
};
for (const [behaviour, { value, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(hex(value)).toBe(want);
  });
}

for (const length of [0, 127, 128, 255, 256, 70_000]) {
  test(`content of ${length} bytes is found again behind its length`, () => {
    const value = der.bytes(Buffer.alloc(length, 7));

    const [first, second] = derChildren(der.sequence(value, der.boolean(true)));

    expect(hex(first ?? value)).toBe(hex(value));
    expect(derContent(value).byteLength).toBe(length);
    expect(hex(second ?? value)).toBe("0101ff");
  });
}
