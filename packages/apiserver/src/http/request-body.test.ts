import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createBodyBudget } from "./body-budget.ts";
import { BodyBytes } from "./body-bytes.ts";
import { readBody } from "./request-body.ts";
import type { Wire } from "./wire.ts";

const makeWire = (): Wire => ({ headers: {}, input: new PassThrough(), closed: false }) as unknown as Wire;

test("a body in many small chunks keeps none of them", async () => {
  const wire = makeWire();
  const body = readBody(wire, createBodyBudget({ large: 1_000, small: 1_000 }), () => "alice");
  // The same memory again and again: a chunk that was kept would change.
  const chunk = Buffer.alloc(1);
  for (const letter of "small chunks") {
    chunk.write(letter);
    wire.input.emit("data", chunk);
  }
  wire.input.emit("end");

  expect(Buffer.from((await body).bytes).toString()).toBe("small chunks");
});

test.each([[1], [100], [5_000], [16_384], [70_000]])(
  "chunks of %i bytes take at most twice their bytes, and are joined in order",
  (size) => {
    const sent = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const bytes = new BodyBytes();
    for (let at = 0; at < sent.length; at += size) {
      bytes.add(sent.subarray(at, at + size));
      expect(bytes.capacity).toBeLessThanOrEqual(Math.max(2 * bytes.length, 1024));
    }

    expect(bytes.join().equals(sent)).toBe(true);
  },
);

test("an empty body has no bytes", () => {
  expect(new BodyBytes().join()).toHaveLength(0);
});
