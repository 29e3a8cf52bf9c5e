import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createBodyBudget } from "./body-budget.ts";
import { BodyChunks, ChunkAllowance } from "./chunk-allowance.ts";
import { readBody } from "./request-body.ts";
import type { Wire } from "./wire.ts";

const makeWire = (): Wire => ({ headers: {}, input: new PassThrough(), closed: false }) as unknown as Wire;

test("a body in many small chunks keeps none of them", async () => {
  const wire = makeWire();
  const body = readBody(wire, {
    budget: createBodyBudget({ large: 1_000, small: 1_000 }),
    chunks: new BodyChunks(new ChunkAllowance(), () => 0),
    client: () => "alice",
  });
  // The same memory again and again: a chunk that was kept would change.
  const chunk = Buffer.alloc(1);
  for (const letter of "small chunks") {
    chunk.write(letter);
    wire.input.emit("data", chunk);
  }
  wire.input.emit("end");

  expect(Buffer.from((await body).bytes).toString()).toBe("small chunks");
});
