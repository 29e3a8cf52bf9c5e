import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { WebhookBreaker } from "./webhook-breaker.ts";

function start() {
  const clock = createFakeClock();
  const probes: { sample: string; settle: PromiseWithResolvers<void> }[] = [];
  const events: string[] = [];
  const breaker = new WebhookBreaker<string>({
    clock,
    probe(sample) {
      const settle = Promise.withResolvers<void>();
      probes.push({ sample, settle });
      return settle.promise;
    },
    onOpen: () => events.push("open"),
    onClose: () => events.push("close"),
  });
  const refused = (sample: string | undefined = "a"): void =>
    breaker.failed({ startedMs: clock.now(), isTimeout: false, sample });
  const timedOut = (sample = "a"): void => breaker.failed({ startedMs: clock.now() - 10_000, isTimeout: true, sample });
  const endProbe = async (isAnswered: boolean): Promise<void> => {
    const { settle } = probes.at(-1) ?? {};
    if (isAnswered) settle?.resolve();
    else settle?.reject(new Error("no answer"));
    await Promise.allSettled([settle?.promise]);
  };
  return { clock, breaker, probes, events, refused, timedOut, endProbe };
}

test("opens after three failures that took no time, and probes after a second", () => {
  const { clock, breaker, probes, events, refused } = start();

  refused();
  refused();
  expect(breaker.isOpen).toBe(false);
  refused();

  expect([breaker.isOpen, events]).toEqual([true, ["open"]]);
  clock.advance(999);
  expect(probes).toHaveLength(0);
  clock.advance(1);
  expect(probes.map(({ sample }) => sample)).toEqual(["a"]);
});

test("opens after one timeout, and probes at once", () => {
  const { clock, breaker, probes, timedOut } = start();

  timedOut();
  clock.advance(0);

  expect([breaker.isOpen, probes.length]).toEqual([true, 1]);
});

test("stays closed after a timeout during which another call was answered", () => {
  const { clock, breaker, timedOut } = start();
  clock.advance(20_000);
  breaker.answered();
  clock.advance(1_000);

  timedOut();

  expect(breaker.isOpen).toBe(false);
});

test("never opens where failures are not ignored", () => {
  const { breaker, clock } = start();

  for (let call = 0; call < 4; call++)
    breaker.failed({ startedMs: clock.now() - 10_000, isTimeout: true, sample: undefined });

  expect([breaker.isOpen, breaker.failures]).toEqual([false, 4]);
});

test("an answered probe closes it", async () => {
  const { clock, breaker, events, timedOut, endProbe } = start();
  timedOut();
  clock.advance(0);

  await endProbe(true);

  expect([breaker.isOpen, breaker.failures, events]).toEqual([false, 0, ["open", "close"]]);
});

test("pauses between probes double up to half a minute", async () => {
  const { clock, probes, timedOut, endProbe } = start();
  timedOut();
  clock.advance(0);
  const pauses: number[] = [];

  for (let probe = 0; probe < 8; probe++) {
    await endProbe(false);
    const dueMs = (clock.nextDue() ?? 0) - clock.now();
    pauses.push(dueMs);
    clock.advance(dueMs);
  }

  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(probes).toHaveLength(9);
});

test("while a probe waits, one request that is skipped is asked about at once: its answer closes", async () => {
  const { clock, breaker, probes, timedOut, endProbe } = start();
  timedOut("slow");
  clock.advance(0);

  expect(breaker.wantsSample).toBe(true);
  breaker.keep("b");
  expect([breaker.wantsSample, probes.map(({ sample }) => sample)]).toEqual([false, ["slow", "b"]]);
  await endProbe(true);

  expect(breaker.isOpen).toBe(false);
});

test("probes again when all probes of a round failed, about a request that was skipped", async () => {
  const { clock, breaker, probes, timedOut, endProbe } = start();
  timedOut("slow");
  clock.advance(0);
  breaker.keep("b");
  await endProbe(false);
  expect(clock.nextDue()).toBeUndefined();

  probes[0]?.settle.reject(new Error("no answer"));
  await Promise.allSettled([probes[0]?.settle.promise]);
  clock.advance(1_000);

  expect(probes.map(({ sample }) => sample)).toEqual(["slow", "b", "b"]);
  expect(breaker.failures).toBe(3);
});

test("a webhook that is no longer configured is not probed", () => {
  const { clock, breaker, probes, timedOut } = start();
  timedOut();

  breaker.retire();
  clock.advance(60_000);

  expect([breaker.isOpen, probes.length]).toEqual([false, 0]);
});
