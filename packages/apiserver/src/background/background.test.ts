import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import { createBackground } from "./background.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("work that is enqueued while it runs runs once more", async () => {
  const background = createBackground({ clock: createFakeClock(), log: silentLog });
  let runs = 0;
  let release = (): void => {};
  const work = async (): Promise<void> => {
    runs++;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  };

  background.enqueue("a", work);
  await turn();
  background.enqueue("a", work);
  background.enqueue("a", work);
  release();
  await turn();
  release();
  await turn();

  expect(runs).toBe(2);
  expect(background.isQuiet()).toBe(true);
});

test("failed work is retried with increasing delays", async () => {
  const clock = createFakeClock();
  const background = createBackground({ clock, log: silentLog });
  let runs = 0;

  background.enqueue("a", async () => {
    runs++;
    if (runs < 3) throw new Error("not yet");
  });
  await turn();
  clock.advance(100);
  await turn();
  clock.advance(100);
  await turn();
  const afterTwoShortWaits = runs;
  clock.advance(100);
  await turn();

  expect(afterTwoShortWaits).toBe(2);
  expect(runs).toBe(3);
  expect(background.isQuiet()).toBe(true);
});

test("close waits for running work and starts no more", async () => {
  const background = createBackground({ clock: createFakeClock(), log: silentLog });
  const done: string[] = [];

  background.enqueue("a", async () => {
    await turn();
    done.push("a");
  });
  await turn();
  await background.close();
  background.enqueue("b", async () => void done.push("b"));
  await turn();

  expect(done).toEqual(["a"]);
});

test("work in a lane takes no shared places, and one job of a lane runs at a time", async () => {
  const background = createBackground({ clock: createFakeClock(), log: silentLog });
  const started: string[] = [];
  const releases: (() => void)[] = [];
  const blocked = (name: string) => async (): Promise<void> => {
    started.push(name);
    await new Promise<void>((resolve) => releases.push(resolve));
  };

  for (let at = 0; at < 10; at++) background.enqueue(`slow ${at}`, blocked(`slow ${at}`), "slow");
  background.enqueue("other lane", blocked("other lane"), "other");
  background.enqueue("shared", async () => void started.push("shared"));
  await turn();
  expect(started.sort()).toEqual(["other lane", "shared", "slow 0"]);

  releases[0]?.();
  await turn();
  expect(started).toContain("slow 1");
  expect(background.isQuiet()).toBe(false);
});
