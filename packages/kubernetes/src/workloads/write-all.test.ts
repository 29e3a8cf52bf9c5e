import { expect, test } from "vitest";
import { WriteAllError, writeAll } from "./write-all.ts";

test("attempts every item, and reports the failures together", async () => {
  const tried: number[] = [];

  const result = writeAll("pod creations", [1, 2, 3, 4], async (item) => {
    tried.push(item);
    if (item % 2 === 0) throw new Error(`no room for ${item}`);
    await Promise.resolve();
  });

  await expect(result).rejects.toThrow("2 of 4 pod creations failed: no room for 2");
  await expect(result).rejects.toBeInstanceOf(WriteAllError);
  expect(tried).toEqual([1, 2, 3, 4]);
});

test("runs at most sixty-four writes at a time", async () => {
  let running = 0;
  let most = 0;

  await writeAll(
    "writes",
    Array.from({ length: 100 }, (_, index) => index),
    async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => void setImmediate(resolve));
      running--;
    },
  );

  expect(most).toBe(64);
});
