import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import { whileUnchanged } from "./while-unchanged.ts";

/** A file whose content the test sets, and runs that end with their signal. */
function arrange(first: string) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const file: { text: string | undefined } = { text: first };
  const runs: string[] = [];
  const read = async (): Promise<string | undefined> => file.text;
  const run = (signal: AbortSignal): Promise<void> => {
    runs.push(String(file.text));
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const look = async (): Promise<void> => {
    await new Promise(setImmediate);
    clock.advance(10_000);
    await new Promise(setImmediate);
  };
  return { file, runs, read, run, stop, look, options: { clock, log: silentLog, name: "bootstrap.kubeconfig" } };
}

test("restarts when the file changes, but not while it is missing briefly", async () => {
  const { file, runs, read, run, stop, look, options } = arrange("one");
  const ended = whileUnchanged(read, run, options, stop.signal);
  await look();
  file.text = undefined;
  await look();
  file.text = "one";
  await look();
  expect(runs).toEqual(["one"]);

  file.text = "two";
  await look();
  expect(runs).toEqual(["one", "two"]);

  stop.abort();
  await ended;
});

test("ends when the run ends or fails by itself", async () => {
  const { read, stop, options } = arrange("one");

  await expect(whileUnchanged(read, async () => {}, options, stop.signal)).resolves.toBeUndefined();
  await expect(
    whileUnchanged(read, () => Promise.reject(new Error("the name is taken")), options, stop.signal),
  ).rejects.toThrow("the name is taken");
});
