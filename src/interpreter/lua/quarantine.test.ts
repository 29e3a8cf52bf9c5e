/**
 * The thread of the quarantined scripts, with a real thread. Time is the test's: what never ends is killed when it says
 * so.
 */
import { afterAll, afterEach, expect, test } from "vitest";
import { createFakeClock } from "../../base/index.ts";
import type { FakeClock } from "../../base/index.ts";
import { DEFAULT_BUDGET } from "./budget.ts";
import { LuaInternalError, LuaLimitError, LuaRuntimeError } from "./errors.ts";
import { LuaResultError } from "./operations.ts";
import { createQuarantine, LOOK_MS } from "./quarantine.ts";
import type { Quarantine, QuarantineOptions } from "./quarantine.ts";

const UNLIMITED = { ...DEFAULT_BUDGET, ticks: Infinity, deadlineMs: Infinity, bytes: Infinity };
const HEALTHY = "function InterpretHealth(o) return o.n > 0 end";
const ENDLESS = "function InterpretHealth(o) while true do end end";

/** For tests that leave it as it was: starting a thread takes longer than all of them. */
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

/** Lets time pass until the promise is settled: as long as the thread needs to start, and two looks more. */
async function passTime(clock: FakeClock, promise: Promise<unknown>): Promise<void> {
  const state = { isSettled: false };
  const settle = (): void => void (state.isSettled = true);
  promise.then(settle, settle);
  while (!state.isSettled) {
    clock.advance(LOOK_MS);
    await new Promise(setImmediate);
  }
}

test("calls of one batch are answered each with its own", async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => usual.run(HEALTHY, "interpretHealth", [{ n }])),
  );

  expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => n > 0));
});

test("results and inputs pass with all their keys", async () => {
  const input = JSON.parse('{"kind":"A","__proto__":{"a":1},"list":[1,{"constructor":2}]}') as { kind: string };

  const revised = await usual.run("function ReviseReplica(o, n) o.n = n return o end", "reviseReplica", [input, 3]);

  expect(JSON.stringify(revised)).toBe('{"kind":"A","__proto__":{"a":1},"list":[1,{"constructor":2}],"n":3}');
});

test("failures come back as what they are", async () => {
  const { quarantine } = makeQuarantine({ budget: { ...DEFAULT_BUDGET, ticks: 20_000 } });
  const run = (body: string): Promise<boolean> =>
    quarantine.run(`function InterpretHealth(o) ${body} end`, "interpretHealth", [{}]);

  await expect(run("error('no')")).rejects.toThrow(LuaRuntimeError);
  await expect(run("error('no')")).rejects.toThrow("<string>:1: no");
  await expect(run("return 1")).rejects.toThrow(LuaResultError);
  await expect(run("while true do end")).rejects.toThrow(LuaLimitError);
});

test("a script is told the time of whoever calls it", async () => {
  expect(
    await usual.run("function InterpretHealth(o) return os.time() == o.now end", "interpretHealth", [
      { now: usualClock.now() / 1000 },
    ]),
  ).toBe(true);
});

test("a call that does not end is killed, and those behind it are answered by a new thread", async () => {
  const { quarantine, clock } = makeQuarantine({ budget: UNLIMITED });

  // Answered before the clock moves: the thread keeps real time, and a slow machine must not make this one look
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

test("a call that eats all memory ends its thread only, and the next call gets another", async () => {
  const { quarantine } = makeQuarantine({ budget: UNLIMITED, memoryMb: 24 });
  const bomb = "function InterpretHealth(o) local t = {} while true do t[#t + 1] = {{}, {}, {}} end end";

  const eating = quarantine.run(bomb, "interpretHealth", [{}]);
  const behind = quarantine.run(HEALTHY, "interpretHealth", [{ n: 0 }]);

  await expect(eating).rejects.toThrow("the script used more than 24 MB");
  expect(await behind).toBe(false);
});

test("more calls than can wait are refused", async () => {
  const calls = Array.from({ length: 1100 }, () => usual.run(HEALTHY, "interpretHealth", [{ n: 1 }]));
  const outcomes = await Promise.allSettled(calls);

  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1024);
  expect(outcomes.at(-1)).toMatchObject({ status: "rejected", reason: expect.any(LuaLimitError) as unknown });
});

test("what cannot be handed over fails, and nothing else does", async () => {
  const { quarantine } = makeQuarantine();
  const noJson = { n: () => 1 } as never;

  await expect(quarantine.run(HEALTHY, "interpretHealth", [noJson])).rejects.toThrow(LuaInternalError);

  expect(await quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }])).toBe(true);
});

test("closing fails what is open and what comes later", async () => {
  const { quarantine } = makeQuarantine();
  const failure = quarantine.run(ENDLESS, "interpretHealth", [{}]).catch((error: unknown) => error);

  await quarantine.close();

  expect(await failure).toMatchObject({ message: "the thread for quarantined scripts is closed" });
  await expect(quarantine.run(HEALTHY, "interpretHealth", [{ n: 1 }])).rejects.toThrow("is closed");
});
