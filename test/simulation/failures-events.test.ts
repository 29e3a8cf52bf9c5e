/**
 * Watches are delayed by different times, end now and then, and repeat events: controllers converge to the same state.
 */
import { expect, test } from "vitest";
import { createSeededRandom, sleep } from "@flotilla/base";
import type { FakeClock, Random } from "@flotilla/base";
import type { Transport, TransportWatchEvent } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { expectEnd, MEMBERS, story } from "./failures-scenario.ts";

const QUIET_MS = 15 * 60_000;
/** A kind may lag behind another by this much; that reorders the events of different kinds. */
const MAX_LATE_MS = 900;

interface Disturbance {
  random: Random;
  /** Unset while the fleet starts: the clock does not advance then. */
  clock: FakeClock | undefined;
  counts: { late: number; twice: number; ended: number };
}

/** Receives events from the server at once, and passes them on with a delay. */
async function* disturbed(
  transport: Transport,
  request: Parameters<Transport["watch"]>[0],
  to: Disturbance,
  signal: AbortSignal,
): AsyncIterable<TransportWatchEvent[]> {
  const left = new AbortController();
  const waiting: TransportWatchEvent[][] = [];
  let changes = Promise.withResolvers<void>();
  let isOver = false;
  const pump = (async () => {
    for await (const batch of transport.watch(request, AbortSignal.any([signal, left.signal]))) {
      waiting.push(batch);
      changes.resolve();
    }
  })().finally(() => {
    isOver = true;
    changes.resolve();
  });
  try {
    let before: TransportWatchEvent[] = [];
    // A list is complete or fails; only later events may be delayed.
    let isListed = request.query?.["sendInitialEvents"] === undefined;
    for (;;) {
      const batch = waiting.shift();
      if (!batch && isOver) {
        await pump;
        return;
      }
      if (!batch) {
        await changes.promise;
        changes = Promise.withResolvers<void>();
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
        // Earlier events are repeated after later ones, and then the latest again.
        yield [...before, ...batch].filter(({ type }) => type !== "BOOKMARK");
      }
      before = batch;
      if (to.random.next() < 0.04) {
        to.counts.ended++;
        return;
      }
    }
  } finally {
    left.abort();
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(
    `with delayed and repeated events, the scenario ends as expected (seed ${seed})`,
    { timeout: 60_000 },
    async () => {
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
          // Delays add up from stage to stage.
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
    },
  );
}
