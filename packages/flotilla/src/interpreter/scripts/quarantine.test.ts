/**
 * Tests the thread of the quarantined scripts with a real thread. The test controls the clock, and so when an endless
 * call is killed.
 */
import { afterAll, afterEach, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { DEFAULT_BUDGET, LuaInternalError, LuaLimitError, LuaRuntimeError } from "@flotilla/lua";
import { LuaResultError } from "./operations.ts";
import { createQuarantine, CHECK_INTERVAL_MS } from "./quarantine.ts";
import type { Quarantine, QuarantineOptions } from "./quarantine.ts";

const UNLIMITED = { ...DEFAULT_BUDGET, ticks: Infinity, deadlineMs: Infinity, bytes: Infinity };
const HEALTHY = "function InterpretHealth(o) return o.n > 0 end";
const ENDLESS = "function InterpretHealth(o) while true do end end";

/** For tests that do not break the thread: starting a thread takes longer than all of them. */
const usualClock = createFakeClock();
const usual = createQuarantine({ clock: usualClock });
afterAll(() => usual.close());

let open: Quarantine | undefined;
afterEach(() => open?.close());

function makeQuarantine(options: Partial<QuarantineOptions> = {}): { quarantine: Quarantine; clock: FakeClock } {
  const clock = createFakeClock();
  open = createQuarantine({ clock, ...options });
  return { quarantine: open, clock };
}

/** Advances the clock until the promise is settled: as long as the thread needs to start, plus two check intervals. */
async function passTime(clock: FakeClock, promise: Promise<unknown>): Promise<void> {
  const state = { isSettled: false };
  const settle = (): void => void (state.isSettled = true);
  promise.then(settle, settle);
  while (!state.isSettled) {
    clock.advance(CHECK_INTERVAL_MS);
    await new Promise(setImmediate);
  }
}

test("each call of a batch gets its own result", async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => usual.run(HEALTHY, "interpretHealth", [{ n }])),
  );

  expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => n > 0));
});

test("results and inputs keep all their keys", async () => {
  const input = JSON.parse('{"kind":"A","__proto__":{"a":1},"list":[1,{"constructor":2}]}') as { kind: string };

  const revised = await usual.run("function ReviseReplica(o, n) o.n = n return o end", "reviseReplica", [input, 3]);

  expect(JSON.stringify(revised)).toBe('{"kind":"A","__proto__":{"a":1},"list":[1,{"constructor":2}],"n":3}');
});

test("failures keep their error class", async () => {
  const { quarantine } = makeQuarantine({ budget: { ...DEFAULT_BUDGET, ticks: 20_000 } });
  const run = (body: string): Promise<boolean> =>
    quarantine.run(`function InterpretHealth(o) ${body} end`, "interpretHealth", [{}]);

  await expect(run("error('no')")).rejects.toThrow(LuaRuntimeError);
  await expect(run("error('no')")).rejects.toThrow("<string>:1: no");
  await expect(run("return 1")).rejects.toThrow(LuaResultError);
  await expect(run("while true do end")).rejects.toThrow(LuaLimitError);
});

test("a script reads the caller's time", async () => {
  expect(
    await usual.run("function InterpretHealth(o) return os.time() == o.now end", "interpretHealth", [
      { now: usualClock.now() / 1000 },
    ]),
  ).toBe(true);
});

test("an endless call is killed, and the calls behind it run in a new thread", async () => {
  const { quarantine, clock } = makeQuarantine({ budget: UNLIMITED });

  // Finished before the clock moves: the thread runs in real time, and a slow machine must not make this call appear
  // endless.
  const before = await quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }]);
  const endless = quarantine.run(ENDLESS, "interpretHealth", [{}]);
  const behind = quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }]);
  await passTime(clock, endless);

  await expect(endless).rejects.toThrow(LuaLimitError);
  await expect(endless).rejects.toThrow("its thread was killed");
  expect(before).toBe(true);
  expect(await behind).toBe(true);
});

test("a call that exhausts memory ends only its thread, and the next call gets a new one", async () => {
  const { quarantine } = makeQuarantine({ budget: UNLIMITED, memoryMb: 24 });
  const bomb = "function InterpretHealth(o) local t = {} while true do t[#t + 1] = {{}, {}, {}} end end";

  const eating = quarantine.run(bomb, "interpretHealth", [{}]);
  const behind = quarantine.run(HEALTHY, "interpretHealth", [{ n: 0 }]);

  await expect(eating).rejects.toThrow("the script used more than 24 MB");
  expect(await behind).toBe(false);
});

test("rejects calls when too many are waiting", async () => {
  const calls = Array.from({ length: 1100 }, () => usual.run(HEALTHY, "interpretHealth", [{ n: 1 }]));
  const outcomes = await Promise.allSettled(calls);

  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1024);
  expect(outcomes.at(-1)).toMatchObject({ status: "rejected", reason: expect.any(LuaLimitError) as unknown });
});

test("an input that cannot be cloned fails without affecting other calls", async () => {
  const { quarantine } = makeQuarantine();
  const noJson = { n: () => 1 } as never;

  await expect(quarantine.run(HEALTHY, "interpretHealth", [noJson])).rejects.toThrow(LuaInternalError);

  expect(await quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }])).toBe(true);
});

test("close rejects pending and later calls", async () => {
  const { quarantine } = makeQuarantine();
  const failure = quarantine.run(ENDLESS, "interpretHealth", [{}]).catch((error: unknown) => error);

  await quarantine.close();

  expect(await failure).toMatchObject({ message: "the thread for quarantined scripts is closed" });
  await expect(quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }])).rejects.toThrow("is closed");
});
