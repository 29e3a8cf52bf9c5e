/**
 * Watches are late, each by its own time, end now and then, and tell things twice: controllers come to the same end.
 */
import { expect, test } from "vitest";
import { createSeededRandom, sleep } from "../../src/base/index.ts";
import type { FakeClock, Random } from "../../src/base/index.ts";
import type { Transport, TransportWatchEvent } from "../../src/client/index.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import { expectEnd, MEMBERS, story } from "./failures-story.ts";

const QUIET_MS = 15 * 60_000;
/** A kind may lag behind another by this much; that reorders what controllers hear of different kinds. */
const MAX_LATE_MS = 900;

interface Disturbance {
  random: Random;
  /** Unset while the fleet starts: nothing moves the clock then. */
  clock: FakeClock | undefined;
  counts: { late: number; twice: number; ended: number };
}

/** Takes events from the server at once, and hands them on in its own time. */
async function* disturbed(
  transport: Transport,
  request: Parameters<Transport["watch"]>[0],
  to: Disturbance,
  signal: AbortSignal,
): AsyncIterable<TransportWatchEvent[]> {
  const left = new AbortController();
  const waiting: TransportWatchEvent[][] = [];
  let news = Promise.withResolvers<void>();
  let isOver = false;
  const pump = (async () => {
    for await (const batch of transport.watch(request, AbortSignal.any([signal, left.signal]))) {
      waiting.push(batch);
      news.resolve();
    }
  })().finally(() => {
    isOver = true;
    news.resolve();
  });
  try {
    let before: TransportWatchEvent[] = [];
    // A list is complete or not at all; it is what follows that may be late.
    let isListed = request.query?.["sendInitialEvents"] === undefined;
    for (;;) {
      const batch = waiting.shift();
      if (!batch && isOver) {
        await pump;
        return;
      }
      if (!batch) {
        await news.promise;
        news = Promise.withResolvers<void>();
        continue;
      }
      const isDisturbed = isListed && to.clock !== undefined;
      isListed ||= batch.some(({ type }) => type === "BOOKMARK");
      if (isDisturbed && to.clock && to.random.next() < 0.4) {
        to.counts.late++;
        await sleep(to.clock, Math.ceil(to.random.next() * MAX_LATE_MS), signal);
      }
      yield batch;
      if (!isDisturbed) continue;
      if (to.random.next() < 0.3) {
        to.counts.twice++;
        // What came before is told once more after what followed it, and then the newest again.
        yield [...before, ...batch].filter(({ type }) => type !== "BOOKMARK");
      }
      before = batch;
      if (to.random.next() < 0.02) {
        to.counts.ended++;
        return;
      }
    }
  } finally {
    left.abort();
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`whatever comes late or twice, the story ends as it should (seed ${seed})`, { timeout: 60_000 }, async () => {
    const disturbance: Disturbance = {
      random: createSeededRandom(seed),
      clock: undefined,
      counts: { late: 0, twice: 0, ended: 0 },
    };
    const wrap = (transport: Transport): Transport => ({
      ...transport,
      watch: (request, signal) => disturbed(transport, request, disturbance, signal),
    });
    const fleet = await startTestFleet({ members: MEMBERS, wrap });
    disturbance.clock = fleet.clock;
    try {
      for (const { act, runMs, check } of story) {
        await act(fleet);
        // What is late adds up from stage to stage.
        await fleet.run(3 * runMs);
        await check?.(fleet);
      }
      await fleet.run(QUIET_MS);

      await expectEnd(fleet);
      fleet.resetWrites();
      await fleet.run(QUIET_MS);
      expect(fleet.writes()).toEqual([]);
      expect(Math.min(...Object.values(disturbance.counts))).toBeGreaterThan(0);
    } finally {
      await fleet.stop();
    }
  });
}
