import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createWatchPace } from "./watch-pace.ts";

const RATE = 1_000_000;
const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a burst of events is read at once", () => {
  const pace = createWatchPace(RATE, createFakeClock());

  expect(pace.read(2 * RATE, 100, never)).toBeUndefined();
});

test("events without end are read at the rate, also short ones", async () => {
  const clock = createFakeClock();
  const pace = createWatchPace(RATE, clock);
  void pace.read(4 * RATE, 0, never);
  let isRead = false;

  void pace.read(0, 1_000, never)?.then(() => (isRead = true));
  clock.advance(2_000);
  await settle();
  const after2s = isRead;
  clock.advance(100);
  await settle();

  expect(after2s).toBe(false);
  expect(isRead).toBe(true);
});

test("all watches of a server share the rate", () => {
  const pace = createWatchPace(RATE, createFakeClock());
  for (let watch = 0; watch < 8; watch++) void pace.read(RATE / 2, 0, never);

  expect(pace.read(1, 0, never)).toBeInstanceOf(Promise);
});

test("a watch that is ended does not wait", async () => {
  const clock = createFakeClock();
  const pace = createWatchPace(RATE, clock);
  const stop = new AbortController();

  const waiting = pace.read(100 * RATE, 0, stop.signal);
  stop.abort();

  await expect(waiting).resolves.toBeUndefined();
});

test("a trusted server is read without waiting", () => {
  const pace = createWatchPace(Number.POSITIVE_INFINITY, createFakeClock());

  expect(pace.read(1e12, 1e9, never)).toBeUndefined();
});
