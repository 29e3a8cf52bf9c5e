/** Advances a fake clock, timer by timer, and settles after each, so that every action runs at its own time. */
import type { FakeClock } from "@flotilla/base";

export async function runClock(clock: FakeClock, ms: number, settle: () => Promise<void>): Promise<void> {
  await settle();
  const end = clock.now() + ms;
  for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
    clock.advance(Math.max(0, due - clock.now()));
    await settle();
  }
  clock.advance(end - clock.now());
  await settle();
}
