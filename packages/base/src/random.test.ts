import { expect, test } from "vitest";
import { createSeededRandom, formatUuid, randomSuffix, randomUuid, systemRandom } from "./random.ts";

test("a seed repeats its sequence, and another seed does not", () => {
  const draw = (seed: number): string => randomUuid(createSeededRandom(seed));

  expect(draw(1)).toBe(draw(1));
  expect(draw(1)).not.toBe(draw(2));
});

test("ids are version 4 UUIDs", () => {
  expect(randomUuid(systemRandom)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("the same bytes give the same UUID, at any offset of a buffer", () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index * 5);

  expect(formatUuid(bytes.slice(8, 24))).toBe("282d3237-3c41-464b-9055-5a5f64696e73");
  expect(formatUuid(bytes.subarray(8))).toBe("282d3237-3c41-464b-9055-5a5f64696e73");
});

test("suffixes use Kubernetes' name alphabet", () => {
  expect(randomSuffix(systemRandom, 200)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{200}$/);
});

test("bytes from the pool are returned once and are not shared between callers", () => {
  const drawn = Array.from({ length: 1000 }, () => systemRandom.bytes(16));
  const before = Buffer.from(drawn[0] ?? []).toString("hex");
  drawn[1]?.fill(0);

  expect(new Set(drawn.map((bytes) => Buffer.from(bytes).toString("hex"))).size).toBe(1000);
  expect(Buffer.from(drawn[0] ?? []).toString("hex")).toBe(before);
  expect(systemRandom.bytes(100_000)).toHaveLength(100_000);
});
