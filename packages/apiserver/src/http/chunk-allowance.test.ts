import { expect, test } from "vitest";
import { BodyChunks, ChunkAllowance } from "./chunk-allowance.ts";

/** How many chunks of one body are accepted, up to a maximum. */
function countAccepted(allowance: ChunkAllowance, bytes: number, { nowMs = 0, most = 10_000 } = {}): number {
  const chunks = new BodyChunks(allowance, () => nowMs);
  let count = 0;
  while (count < most && chunks.accept(bytes)) count++;
  return count;
}

test("chunks of one byte are accepted up to a bound", () => {
  expect(countAccepted(new ChunkAllowance(), 1)).toBe(267);
});

test("small chunks among large ones are accepted without a bound", () => {
  const chunks = new BodyChunks(new ChunkAllowance(), () => 0);
  for (let frame = 0; frame < 5_000; frame++) {
    expect(chunks.accept(16_384)).toBe(true);
    expect(chunks.accept(9)).toBe(true);
  }
});

test("chunks of the size of small packets are accepted without a bound", () => {
  expect(countAccepted(new ChunkAllowance(), 500)).toBe(10_000);
});

test("the bodies of one connection share the allowance, and each has some chunks of its own", () => {
  const allowance = new ChunkAllowance();
  countAccepted(allowance, 1);

  expect(countAccepted(allowance, 1)).toBe(16);
  expect(countAccepted(new ChunkAllowance(), 1)).toBe(267);
});

test("any number of small bodies of a few chunks is accepted", () => {
  const allowance = new ChunkAllowance();

  for (let body = 0; body < 5_000; body++) expect(countAccepted(allowance, 40, { most: 10 })).toBe(10);
});

test("the allowance refills with time, up to its maximum", () => {
  const allowance = new ChunkAllowance();
  countAccepted(allowance, 1);

  expect(countAccepted(allowance, 1, { nowMs: 1_000 })).toBe(16 + 49);
  expect(countAccepted(allowance, 1, { nowMs: 1_000_000 })).toBe(267);
});
