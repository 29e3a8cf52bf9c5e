import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createFakeClock, formatTime, sleep, systemClock } from "./clock.ts";

describe("the fake clock", () => {
  test("fires due timers in order and at their own time, including timers set by timers", () => {
    const clock = createFakeClock(0);
    const fired: string[] = [];
    clock.after(20, () => fired.push(`b at ${clock.now()}`));
    clock.after(10, () => {
      fired.push(`a at ${clock.now()}`);
      clock.after(5, () => fired.push(`c at ${clock.now()}`));
    });

    clock.advance(20);

    expect(fired).toEqual(["a at 10", "c at 15", "b at 20"]);
    expect(clock.now()).toBe(20);
  });

  test("does not fire cancelled timers, and reports the next due time", () => {
    const clock = createFakeClock(0);
    const timer = clock.after(10, () => expect.unreachable());
    clock.after(30, () => {});

    timer.cancel();
    clock.advance(15);

    expect(clock.nextDue()).toBe(30);
  });
});

describe("sleep", () => {
  test("resolves after its delay", async () => {
    const clock = createFakeClock(0);
    const waiting = sleep(clock, 10);

    clock.advance(10);

    await expect(waiting).resolves.toBeUndefined();
  });

  test("rejects with the signal's reason, and leaves no timer behind", async () => {
    const clock = createFakeClock(0);
    const stopping = new AbortController();
    const waiting = sleep(clock, 10, stopping.signal);

    stopping.abort(new Error("stopping"));

    await expect(waiting).rejects.toThrow("stopping");
    expect(clock.nextDue()).toBeUndefined();
  });
});

describe("the system clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("waits longer than Node's maximum timer delay", () => {
    const run = vi.fn<() => void>();
    systemClock.after(2 ** 32, run);

    vi.advanceTimersByTime(2 ** 31);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2 ** 31);

    expect(run).toHaveBeenCalledOnce();
  });
});

test("formatTime writes UTC with whole seconds", () => {
  expect(formatTime(Date.UTC(2024, 4, 1, 12, 30, 15, 999))).toBe("2024-05-01T12:30:15Z");
  expect(formatTime(Date.UTC(2024, 4, 1, 12, 30, 16))).toBe("2024-05-01T12:30:16Z");
});
