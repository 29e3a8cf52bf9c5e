import { expect, test } from "vitest";
import { open, seal } from "./secretbox.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");

/** The example of NaCl's tests (tests/secretbox.c). */
const KEY = hex("1b27556473e985d4 62cd51197a9a46c7 6009549eac6474f2 06c4ee0844f68389");
const NONCE = hex("69696ee955b62b73 cd62bda875fc73d6 8219e0036b7a0b37");
const PLAIN = hex(`be075fc53c81f2d5 cf141316ebeb0c7b 5228c52a4c62cbd4 4b66849b64244ffc
  e5ecbaaf33bd751a 1ac728d45e6c6129 6cdc3c01233561f4 1db66cce314adb31
  0e3be8250c46f06d ceea3a7fa1348057 e2f6556ad6b1318a 024a838f21af1fde
  048977eb48f59ffd 4924ca1c60902e52 f0a089bc76897040 e082f93776384864 5e0705`);
const SEALED = hex(`f3ffc7703f9400e5 2a7dfb4b3d3305d9
  8e993b9f48681273 c29650ba32fc76ce 48332ea7164d96a4 476fb8c531a1186a
  c0dfc17c98dce87b 4da7f011ec48c972 71d2c20f9b928fe2 270d6fb863d51738
  b48eeee314a7cc8a b932164548e526ae 90224368517acfea bd6bb3732bc0e9da
  99832b61ca01b6de 56244a9e88d5f9b3 7973f622a43d14a6 599b1f654cb45a74 e355a5`);

test("seals and opens as NaCl does", () => {
  expect(seal(PLAIN, NONCE, KEY).toString("hex")).toBe(SEALED.toString("hex"));
  expect(open(SEALED, NONCE, KEY).toString("hex")).toBe(PLAIN.toString("hex"));
});

test.each([0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1_000])("opens what it sealed: %i bytes", (length) => {
  const plain = Buffer.from(Array.from({ length }, (_, index) => (index * 7) & 255));

  expect(open(seal(plain, NONCE, KEY), NONCE, KEY).equals(plain)).toBe(true);
});

test("finds a changed byte anywhere", () => {
  for (let index = 0; index < SEALED.length; index += 13) {
    const changed = Buffer.from(SEALED);
    changed[index] = (changed[index] ?? 0) ^ 1;

    expect(() => open(changed, NONCE, KEY)).toThrow("the tag does not match");
  }
  expect(() => open(SEALED.subarray(0, 15), NONCE, KEY)).toThrow("too short");
});
