import { expect, test } from "vitest";
import { KeyLocks } from "./key-locks.ts";

test("work on one key is serialized in call order", async () => {
  const locks = new KeyLocks();
  const trace: string[] = [];
  const work = (name: string) => async () => {
    trace.push(`${name} starts`);
    await Promise.resolve();
    trace.push(`${name} ends`);
  };

  await Promise.all([locks.run("a", work("first")), locks.run("a", work("second")), locks.run("a", work("third"))]);

  expect(trace).toEqual(["first starts", "first ends", "second starts", "second ends", "third starts", "third ends"]);
});

test("work on different keys does not wait", async () => {
  const locks = new KeyLocks();
  const gate = Promise.withResolvers<void>();

  const held = locks.run("a", () => gate.promise);
  const other = await locks.run("b", () => Promise.resolve("done"));

  expect(other).toBe("done");
  gate.resolve();
  await held;
});

test("failed work releases the key and leaves nothing behind", async () => {
  const locks = new KeyLocks();

  const failing = locks.run("a", () => Promise.reject(new Error("no")));
  const next = locks.run("a", () => Promise.resolve("done"));

  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("done");
  expect(locks.size).toBe(0);
});
