import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOfMilli,
  quantityProblem,
  quantityValue,
  subtractQuantities,
  tryParseQuantity,
} from "./quantity.ts";

describe("the canonical form", () => {
  const cases: [text: string | number, want: string][] = [
    ["100m", "100m"],
    ["1000m", "1"],
    ["1.5", "1500m"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["1.", "1"],
    ["+1", "1"],
    ["-1500m", "-1500m"],
    ["0", "0"],
    ["0Gi", "0"],
    ["100000", "100k"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Gi", "512Mi"],
    ["1000Ki", "1000Ki"],
    ["512Ki", "512Ki"],
    ["12e6", "12e6"],
    ["1200e4", "12e6"],
    ["1e-3", "1e-3"],
    ["5E", "5E"],
    ["0.1n", "1n"],
    ["-0.1n", "-1n"],
    [2, "2"],
    ["7Ei", "7Ei"],
    ["8Ei", "9223372036854775807"],
    ["-16Ei", "-9223372036854775807"],
    ["9999999999999999.5Ki", "9223372036854775807"],
    // Without a number it is zero.
    [".", "0"],
    ["Gi", "0"],
    ["-m", "0"],
  ];
  test.each(cases)("the canonical form of %s is %s", (text, want) => {
    expect(formatQuantity(parseQuantity(text))).toBe(want);
  });
});

describe("an invalid quantity", () => {
  test.each(["", "x", "1.2.3", "1ki", "1 Gi", "--1", "Pi", "Ei", "1e1000", "0x1", "9".repeat(200)])(
    "%j is rejected",
    (text) => {
      expect(() => parseQuantity(text)).toThrow(expect.objectContaining({ code: "BadRequest" }));
      expect(tryParseQuantity(text)).toBeUndefined();
    },
  );
});

test("values are rounded away from zero", () => {
  expect(quantityValue(parseQuantity("1500m"))).toBe(2n);
  expect(quantityMilliValue(parseQuantity("1u"))).toBe(1n);
  expect(quantityMilliValue(parseQuantity("2"))).toBe(2000n);
  expect(quantityValue(parseQuantity("-1500m"))).toBe(-2n);
});

test("sums keep the notation of the first operand and are exact", () => {
  const sum = (a: string, b: string): string => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));

  expect(sum("1Gi", "512Mi")).toBe("1536Mi");
  expect(sum("0", "1Gi")).toBe("1Gi");
  expect(sum("0.1", "0.2")).toBe("300m");
  expect(formatQuantity(subtractQuantities(parseQuantity("1"), parseQuantity("250m")))).toBe("750m");
});

const milli = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });

test("formatting and parsing round-trips", () => {
  fc.assert(
    fc.property(
      milli,
      fc.constantFrom("DecimalSI" as const, "DecimalExponent" as const, "BinarySI" as const),
      (value, format) => {
        const quantity = quantityOfMilli(value, format);

        expect(compareQuantities(parseQuantity(formatQuantity(quantity)), quantity)).toBe(0);
      },
    ),
  );
});

test("addition and comparison match those of the numbers", () => {
  fc.assert(
    fc.property(milli, milli, (a, b) => {
      expect(quantityMilliValue(addQuantities(quantityOfMilli(a), quantityOfMilli(b)))).toBe(a + b);
      expect(compareQuantities(quantityOfMilli(a), quantityOfMilli(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

/** Takes hours with an ambiguous regular expression for digits. */
test.each(["x", "e1x", ".1x", "+x"])("a megabyte of digits that ends with %s is rejected immediately", (end) => {
  expect(quantityProblem("1".repeat(1_000_000) + end)).toMatch("quantities must match the regular expression");
});
