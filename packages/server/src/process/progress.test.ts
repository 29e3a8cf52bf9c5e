import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createProgress } from "./progress.ts";

const CLEAR = "\r\u001b[K";

function createScreen(options: { isTTY?: boolean; columns?: number } = { isTTY: true }): {
  clock: ReturnType<typeof createFakeClock>;
  progress: ReturnType<typeof createProgress>;
  written: string[];
} {
  const clock = createFakeClock();
  const written: string[] = [];
  return { clock, written, progress: createProgress({ ...options, write: (text) => written.push(text) > 0 }, clock) };
}

test("short work shows no progress line", () => {
  const { clock, progress, written } = createScreen();

  progress.show("planning");
  clock.advance(900);
  progress.show("");
  clock.advance(5_000);

  expect(written).toEqual([]);
});

test("longer work shows one line, which is cleared", () => {
  const { clock, progress, written } = createScreen();

  progress.show("planning");
  clock.advance(1_000);
  progress.show("applying");
  progress.show("");

  expect(written).toEqual([`${CLEAR}planning`, `${CLEAR}applying`, CLEAR]);
});

test("other lines are printed above it", () => {
  const { clock, progress, written } = createScreen();

  progress.show("waiting");
  clock.advance(1_000);
  progress.aside(() => written.push("paris has joined\n"));

  expect(written).toEqual([`${CLEAR}waiting`, CLEAR, "paris has joined\n", `${CLEAR}waiting`]);
});

test("a progress line is never wider than the terminal", () => {
  const { clock, progress, written } = createScreen({ isTTY: true, columns: 10 });

  progress.show("waiting for members");
  clock.advance(1_000);

  expect(written).toEqual([`${CLEAR}waiting f`]);
});

test("without a terminal a text is printed every 30 s if it has changed, and every minute otherwise", () => {
  const { clock, progress, written } = createScreen({});

  progress.show("waiting for 2 workloads");
  clock.advance(20_000);
  progress.show("waiting for 1 workload");
  for (let second = 20; second < 150; second += 10) clock.advance(10_000);
  progress.show("");
  clock.advance(600_000);

  expect(written).toEqual([
    "waiting for 1 workload (after 30 s)\n",
    "waiting for 1 workload (after 90 s)\n",
    "waiting for 1 workload (after 150 s)\n",
  ]);
});

test("without a terminal short work prints nothing", () => {
  const { clock, progress, written } = createScreen({});

  progress.show("planning");
  clock.advance(29_000);
  progress.show("");
  clock.advance(60_000);

  expect(written).toEqual([]);
});

test("without a terminal nothing is printed for programs", () => {
  const clock = createFakeClock();
  const written: string[] = [];
  const progress = createProgress({ write: (text) => written.push(text) > 0 }, clock, true);

  progress.show("waiting");
  clock.advance(600_000);
  progress.aside(() => written.push("paris has joined\n"));

  expect(written).toEqual(["paris has joined\n"]);
});
