import { expect, test } from "vitest";
import { fnv1a32, fnv32, safeEncode } from "./hash.ts";

test("FNV-1a and FNV-1 give their published values", () => {
  expect([fnv1a32(""), fnv1a32("a"), fnv1a32("foobar")]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  expect([fnv32(""), fnv32("a"), fnv32("foobar")]).toEqual([0x811c9dc5, 0x050c5d7e, 0x31f0b262]);
});

test("a string and its bytes have the same hash", () => {
  expect(fnv1a32("žluť")).toBe(fnv1a32(Buffer.from("žluť")));
});

test("numbers are encoded in the name alphabet", () => {
  expect(safeEncode("0123456789")).toBe("456789bcdf");
});
