import { beforeEach, describe, expect, test } from "vitest";
import { createDecisions, type Decisions } from "./decisions.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

const binding = { metadata: { uid: "u", generation: 1 } };
const scheduled: SchedulePlan = { outcome: "scheduled", clusters: [], verdicts: [], failedTerms: [] };
const failed: SchedulePlan = {
  outcome: "unschedulable",
  reason: "Unschedulable",
  message: "",
  verdicts: [],
  failedTerms: [],
};

let decisions: Decisions<string>;
const keep = (plan: SchedulePlan, nowMs = 0): { requeueAfterMs?: number } =>
  decisions.keep("web", "web", binding, plan, decisions.fleetGeneration, nowMs);

beforeEach(() => {
  decisions = createDecisions<string>();
});

describe("a scheduled binding", () => {
  beforeEach(() => void keep(scheduled));

  test("is not decided again while nothing changed", () => {
    expect(decisions.turn("web", binding, 1e9)).toEqual({ decide: false });
  });

  test("is not retried when there is more room", () => {
    expect(decisions.wakeWaiting(0)).toEqual([]);
  });

  test("is decided again when it is reconsidered", () => {
    expect(decisions.reconsider("web", 0)).toBe(true);
    expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });
    expect(decisions.reconsider("other", 0)).toBe(false);
  });

  const changes: Record<string, () => object> = {
    "the fitting clusters changed": () => {
      decisions.startFleetGeneration();
      return binding;
    },
    "its spec changed": () => ({ metadata: { uid: "u", generation: 2 } }),
    "it is another binding of the same name": () => ({ metadata: { uid: "v", generation: 1 } }),
    "its policy enables the return to an earlier affinity": () => ({
      metadata: { ...binding.metadata, annotations: { "flotilla.dev/return-after-seconds": "0" } },
    }),
  };
  for (const [change, make] of Object.entries(changes)) {
    test(`is decided again when ${change}`, () => {
      expect(decisions.turn("web", make() as typeof binding, 0)).toEqual({ decide: true });
    });
  }
});

/** Fails round after round and returns the length of each pause; more room is reported right after each failure. */
function pausesOf(rounds: number, startMs = 0): number[] {
  const pauses: number[] = [];
  let nowMs = startMs;
  for (let round = 0; round < rounds; round++) {
    decisions.wakeWaiting(nowMs);
    const turn = decisions.turn("web", binding, nowMs);
    const pauseMs = turn.decide ? 0 : (turn.requeueAfterMs ?? 0);
    pauses.push(pauseMs);
    nowMs += pauseMs;
    decisions.turn("web", binding, nowMs);
    keep(failed, nowMs);
  }
  return pauses;
}

describe("a binding that waits for room", () => {
  beforeEach(() => void keep(failed));

  test("is woken once for more room, and decided after a pause", () => {
    expect(decisions.turn("web", binding, 5000)).toEqual({ decide: false, requeueAfterMs: 295_000 });
    expect(decisions.wakeWaiting(0)).toEqual(["web"]);
    expect(decisions.wakeWaiting(0)).toEqual([]);
    expect(decisions.turn("web", binding, 400)).toEqual({ decide: false, requeueAfterMs: 600 });
    expect(decisions.turn("web", binding, 1000)).toEqual({ decide: true });
  });

  test("pauses longer each time, up to a limit", () => {
    expect(pausesOf(6)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  test("pauses briefly again once a binding was placed", () => {
    pausesOf(5);

    decisions.keep("other", "other", binding, failed, decisions.fleetGeneration, 25_000);
    decisions.keep("other", "other", binding, scheduled, decisions.fleetGeneration, 25_000);

    expect(pausesOf(2, 25_000)).toEqual([1000, 2000]);
  });

  test("is retried after five minutes at the latest, even without more room", () => {
    expect(keep(failed, 1000)).toEqual({ requeueAfterMs: 300_000 });

    expect(decisions.turn("web", binding, 300_999)).toEqual({ decide: false, requeueAfterMs: 1 });
    expect(decisions.turn("web", binding, 301_000)).toEqual({ decide: true });
  });

  test("is retried together with the others, regardless of waiting time", () => {
    pausesOf(4);
    decisions.keep("late", "late", binding, failed, decisions.fleetGeneration, 15_000);
    keep(failed, 15_000);

    expect(decisions.wakeWaiting(16_000).toSorted()).toEqual(["late", "web"]);

    const turns = ["late", "web"].map((id) => decisions.turn(id, binding, 16_000));
    expect(turns[0]).toEqual(turns[1]);
    expect(turns[0]).toMatchObject({ decide: false });
  });

  test("joins the next round when it is reconsidered", () => {
    expect(decisions.reconsider("web", 0)).toBe(true);

    expect(decisions.turn("web", binding, 400)).toEqual({ decide: false, requeueAfterMs: 600 });
    expect(decisions.wakeWaiting(400)).toEqual([]);
  });

  test("skips its pause when the fitting clusters change", () => {
    decisions.startFleetGeneration();

    expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });
  });

  test("is not woken once it is scheduled or deleted", () => {
    keep(scheduled);
    expect(decisions.wakeWaiting(0)).toEqual([]);

    keep(failed);
    decisions.forget("web");
    expect(decisions.wakeWaiting(0)).toEqual([]);
  });
});

test("a binding that will return to an earlier affinity is requeued for that time", () => {
  expect(keep({ outcome: "unchanged", returnsAtMs: 5000 }, 1000)).toEqual({ requeueAfterMs: 4000 });
  expect(decisions.turn("web", binding, 2000)).toEqual({ decide: false, requeueAfterMs: 3000 });
  expect(decisions.turn("web", binding, 5000)).toEqual({ decide: true });
});

test("a decision in progress is made again when something else changed", () => {
  decisions.turn("web", binding, 0);
  expect(decisions.reconsider("web", 0)).toBe(true);
  keep(scheduled);
  expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });

  keep(scheduled);
  expect(decisions.turn("web", binding, 0)).toEqual({ decide: false });
});

test("a binding that still waits joins the next round when something else changed during its attempt", () => {
  keep(failed);
  decisions.wakeWaiting(0);
  expect(decisions.turn("web", binding, 1000)).toEqual({ decide: true });
  expect(decisions.reconsider("web", 1000)).toBe(true);
  keep(failed, 1000);

  expect(decisions.turn("web", binding, 1000)).toEqual({ decide: false, requeueAfterMs: 2000 });
});

test("a placed binding is decided again when something else changed during its attempt", () => {
  keep(failed);
  decisions.wakeWaiting(0);
  decisions.turn("web", binding, 1000);
  decisions.reconsider("web", 1000);
  keep(scheduled, 1000);

  expect(decisions.turn("web", binding, 1000)).toEqual({ decide: true });
});

test("a decision made before the fitting clusters changed is not valid afterwards", () => {
  const { fleetGeneration } = decisions;
  decisions.startFleetGeneration();
  decisions.keep("web", "web", binding, scheduled, fleetGeneration, 0);

  expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });
});
