import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createBackPressure } from "./back-pressure.ts";

const never = new AbortController().signal;

function arrange(): {
  clock: ReturnType<typeof createFakeClock>;
  pressure: ReturnType<typeof createBackPressure>;
  write(signal?: AbortSignal, client?: string): { done: boolean };
} {
  const clock = createFakeClock();
  const pressure = createBackPressure({ clock, limitBytes: 100, shareBytes: 40, stallMs: 3000, maxWaitMs: 2000 });
  const write = (signal = never, client = ""): { done: boolean } => {
    const state = { done: false };
    void Promise.resolve(pressure.room("hub", signal, client)).then(() => {
      state.done = true;
    });
    return state;
  };
  return { clock, pressure, write };
}
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("writers do not wait while watchers keep up", () => {
  const { pressure } = arrange();
  pressure.join("hub").report(40);

  expect(pressure.room("hub", never)).toBeUndefined();
});

test("writers wait while watchers lag, and continue when half of the backlog is drained", async () => {
  const { pressure, write } = arrange();
  const watches = [pressure.join("hub"), pressure.join("hub"), pressure.join("hub")];
  for (const watch of watches) watch.report(40);
  const writer = write();

  watches[0]?.report(0);
  await tick();
  expect(writer.done).toBe(false);

  watches[1]?.report(10);
  await tick();
  expect(writer.done).toBe(true);
});

test("one client that reads nothing does not block writers", () => {
  const { pressure } = arrange();
  pressure.join("hub").report(1_000_000);

  expect(pressure.bytes("hub")).toBe(40);
  expect(pressure.room("hub", never)).toBeUndefined();
});

test("a watch that ends releases its backlog", async () => {
  const { pressure, write } = arrange();
  const watches = Array.from({ length: 5 }, () => pressure.join("hub"));
  for (const watch of watches) watch.report(40);
  const writer = write();

  for (const watch of watches) watch.end();
  await tick();

  expect(pressure.bytes("hub")).toBe(0);
  expect(writer.done).toBe(true);
});

test("a writer stops waiting after the limit, or when its client disconnects", async () => {
  const { clock, pressure, write } = arrange();
  for (let count = 0; count < 5; count++) pressure.join("hub").report(40);
  const gone = new AbortController();
  const abandoned = write(gone.signal);
  const patient = write();

  gone.abort();
  await tick();
  expect(abandoned.done).toBe(true);
  expect(patient.done).toBe(false);

  clock.advance(2000);
  await tick();
  expect(patient.done).toBe(true);
});

test("watchers of one cluster do not slow down writers of another", () => {
  const { pressure } = arrange();
  for (let count = 0; count < 5; count++) pressure.join("milan").report(40);

  expect(pressure.room("milan", never)).toBeDefined();
  expect(pressure.room("hub", never)).toBeUndefined();
});

test("clients that stop reading are not counted until they read again", () => {
  const { clock, pressure } = arrange();
  const watches = Array.from({ length: 5 }, () => pressure.join("hub"));
  for (const watch of watches) watch.report(40);
  expect(pressure.room("hub", never)).toBeDefined();

  clock.advance(3000);
  expect(pressure.room("hub", never)).toBeUndefined();
  for (const watch of watches) watch.report(41);
  expect(pressure.bytes("hub")).toBe(0);

  for (const watch of watches) watch.report(40);
  expect(pressure.bytes("hub")).toBe(200);
});

test("a client whose many watches lag delays its own writes, and those of others by 50 ms at most", async () => {
  const { clock, pressure, write } = arrange();
  for (let index = 0; index < 10; index++) pressure.join("hub", "slow").report(40);
  const [own, other] = [write(never, "slow"), write(never, "other")];

  clock.advance(50);
  await tick();
  const after50 = [own.done, other.done];
  clock.advance(1950);
  await tick();

  expect(after50).toEqual([false, true]);
  expect(own.done).toBe(true);
});

test("a writer that waits only for its own watches does not wait for those of others", () => {
  const { pressure } = arrange();
  for (const watch of Array.from({ length: 3 }, () => pressure.join("hub", "reader"))) watch.report(40);

  expect(pressure.room("hub", never, "controllers", { onlyOwn: true })).toBeUndefined();
  expect(pressure.room("hub", never, "reader", { onlyOwn: true })).toBeInstanceOf(Promise);
});
