/** The hub crashes at any point, and restarts: pending work is finished once, and no running workload is lost. */
import { expect, test } from "vitest";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runs } from "@flotilla/testing/runs.ts";
import { expectEnd, expectNoOrphans, MEMBERS, story } from "./failures-scenario.ts";

const QUIET_MS = 15 * 60_000;
/** The components of the hub's pipeline. */
const STAGES = [
  "match",
  "schedule",
  "failover",
  "eviction",
  "dependencies",
  "rebalance",
  "namespaces",
  "dispatch",
  "execute",
  "status",
  "aggregate",
  "policies",
];
/** In how many of the chapters in which it writes each stage is crashed: in all of them, unless fewer runs are asked for. */
const CHAPTERS = runs(8);
const READS = new Set(["get", "list"]);

interface Crash {
  /** Crashes after this many writes of the pipeline; the response to the last one is lost. */
  afterWrites: number;
}

/**
 * Plays the scenario on a hub that crashes once. Returns the chapter and the stage of each write of the pipeline, in
 * order.
 */
async function play({ afterWrites }: Crash): Promise<string[]> {
  const engine = createLastingEngine();
  const written: string[] = [];
  let isDead = false;
  let mayDie = true;
  let chapter = 0;
  const lost = (): Promise<never> =>
    Promise.resolve().then(() => Promise.reject(new UnreachableError("the hub is dying")));
  const wrap = (transport: Transport, part: string): Transport => ({
    ...transport,
    async send(request, signal) {
      if (!STAGES.includes(part)) return transport.send(request, signal);
      if (isDead) return lost();
      const answer = await transport.send(request, signal);
      if (READS.has(request.verb)) return answer;
      written.push(`${chapter} ${part}`);
      if (mayDie && written.length === afterWrites) {
        isDead = true;
        return lost();
      }
      return answer;
    },
  });
  const open = (): Promise<TestFleet> => startTestFleet({ members: MEMBERS, engine, wrap });
  let fleet = await open();
  const revive = async (): Promise<void> => {
    const atMs = fleet.clock.now();
    await fleet.stop();
    [isDead, mayDie] = [false, false];
    fleet = await open();
    await fleet.run(Math.max(0, atMs - fleet.clock.now()));
  };
  try {
    for (const { act, runMs, check } of story) {
      chapter++;
      await act(fleet);
      await fleet.run(runMs);
      if (isDead) {
        await revive();
        await fleet.run(runMs);
      }
      await expectNoOrphans(fleet);
      await check?.(fleet);
    }
    await fleet.run(QUIET_MS);
    await expectEnd(fleet);
    fleet.resetWrites();
    await fleet.run(QUIET_MS);
    expect(fleet.writes()).toEqual([]);
  } finally {
    await fleet.stop();
  }
  return written;
}

/** Of the first writes of a stage in each chapter: the stages begin with different chapters. */
function turns(firsts: readonly number[], stage: number): number[] {
  const { length } = firsts;
  return Array.from({ length: Math.min(CHAPTERS, length) }, (_, turn) => firsts[(stage + turn) % length] ?? 0);
}

test(
  "a hub that crashes after the first write of a stage in a chapter finishes its work",
  { timeout: 180_000 },
  async () => {
    const undisturbed = await play({ afterWrites: Infinity });
    const firsts = undisturbed.flatMap((what, index) => (undisturbed.indexOf(what) === index ? [index + 1] : []));
    const byStage = STAGES.map((stage) =>
      firsts.filter((afterWrites) => undisturbed[afterWrites - 1]?.split(" ")[1] === stage),
    );
    expect(STAGES.filter((_, index) => byStage[index]?.length === 0)).toEqual([]);

    for (const afterWrites of byStage.flatMap(turns)) {
      try {
        await play({ afterWrites });
      } catch (error) {
        throw new Error(`dying after write ${afterWrites}, the first of ${undisturbed[afterWrites - 1]}`, {
          cause: error,
        });
      }
    }
  },
);
