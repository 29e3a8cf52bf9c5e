import { expect, test } from "vitest";
import { CollectedBytes } from "./collected-bytes.ts";

test.each([[1], [100], [5_000], [16_384], [70_000]])(
  "chunks of %i bytes take at most twice their bytes, and are joined in order",
  (size) => {
    const sent = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const bytes = new CollectedBytes();
    let mostExcess = 0;
    for (let at = 0; at < sent.length; at += size) {
      bytes.add(sent.subarray(at, at + size));
      mostExcess = Math.max(mostExcess, bytes.capacity - Math.max(2 * bytes.length, 1024));
    }

    expect(mostExcess).toBe(0);
    expect(bytes.join().equals(sent)).toBe(true);
  },
);

test("an empty body has no bytes", () => {
  expect(new CollectedBytes().join()).toHaveLength(0);
});

test.each([
  [1, 1_000, false],
  [1, 1_100, true],
  [9, 2_000, true],
  [500, 20_000, false],
])("chunks of %i bytes, %i of them, are too small: %s", (size, count, isTooSmall) => {
  const bytes = new CollectedBytes();
  for (let index = 0; index < count; index++) bytes.add(Buffer.alloc(size));

  expect(bytes.isInTinyChunks).toBe(isTooSmall);
});
