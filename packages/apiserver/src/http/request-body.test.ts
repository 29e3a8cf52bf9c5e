import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createBodyBudget } from "./body-budget.ts";
import { BodyChunks, ChunkAllowance } from "./chunk-allowance.ts";
import { readBody } from "./request-body.ts";
import type { Wire } from "./wire.ts";

const makeWire = (): Wire => ({ headers: {}, input: new PassThrough(), closed: false }) as unknown as Wire;

test("a request that closes after its body is complete, and one that closes before", async () => {
  const limits = {
    budget: createBodyBudget({ large: 1_000, small: 1_000 }),
    chunks: new BodyChunks(new ChunkAllowance(), () => 0),
    client: () => "alice",
  };
  const [whole, broken] = [makeWire(), makeWire()];
  const [read, cut] = [readBody(whole, limits), readBody(broken, limits)];
  for (const { input } of [whole, broken]) input.emit("data", Buffer.from("text"));

  whole.input.emit("end");
  for (const { input } of [whole, broken]) input.emit("close");

  const { bytes, release } = await read;
  expect(Buffer.from(bytes).toString()).toBe("text");
  await expect(cut).rejects.toMatchObject({ status: { code: 400 } });
  expect(limits.budget.heldBytes).toBe(4);
  release();
  expect(limits.budget.heldBytes).toBe(0);
});

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
