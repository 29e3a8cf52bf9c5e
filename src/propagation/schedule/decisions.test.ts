import { beforeEach, describe, expect, test } from "vitest";
import { createDecisions, type Decisions } from "./decisions.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

const binding = { metadata: { uid: "u", generation: 1 } };
const scheduled: SchedulePlan = { outcome: "scheduled", clusters: [], verdicts: [], failedTerms: [] };
const failed: SchedulePlan = { outcome: "unschedulable", reason: "Unschedulable", message: "", verdicts: [], failedTerms: [] };

let decisions: Decisions<string>;
const keep = (plan: SchedulePlan, nowMs = 0): { requeueAfterMs?: number } => decisions.keep("web", "web", binding, plan, decisions.era, nowMs);

beforeEach(() => {
  decisions = createDecisions<string>();
});

describe("a scheduled binding", () => {
  beforeEach(() => void keep(scheduled));

  test("is not decided again while nothing changed", () => {
    expect(decisions.turn("web", binding, 1e9)).toEqual({ decide: false });
  });

  test("is not bothered when there is more room", () => {
    expect(decisions.nudge()).toEqual([]);
  });

  const changes: Record<string, () => object> = {
    "what fits changed": () => {
      decisions.startEra();
      return binding;
    },
    "its spec changed": () => ({ metadata: { uid: "u", generation: 2 } }),
    "it is another binding of the same name": () => ({ metadata: { uid: "v", generation: 1 } }),
    "its policy asks for the way back": () => ({ metadata: { ...binding.metadata, annotations: { "flotilla.dev/return-after-seconds": "0" } } }),
  };
  for (const [change, make] of Object.entries(changes)) {
    test(`is decided again when ${change}`, () => {
      expect(decisions.turn("web", make() as typeof binding, 0)).toEqual({ decide: true });
    });
  }
});

describe("a binding that waits for room", () => {
  beforeEach(() => void keep(failed));

  test("is told once that there is more, and decided after a pause", () => {
    expect(decisions.turn("web", binding, 5000)).toEqual({ decide: false });
    expect(decisions.nudge()).toEqual(["web"]);
    expect(decisions.nudge()).toEqual([]);
    expect(decisions.turn("web", binding, 400)).toEqual({ decide: false, requeueAfterMs: 600 });
    expect(decisions.turn("web", binding, 1000)).toEqual({ decide: true });
  });

  test("pauses longer every time, up to a limit", () => {
    const pauses = [1, 2, 3, 4, 5, 6].map(() => {
      keep(failed);
      decisions.nudge();
      const turn = decisions.turn("web", binding, 0);
      return turn.decide ? 0 : turn.requeueAfterMs;
    });

    expect(pauses).toEqual([2000, 4000, 8000, 10_000, 10_000, 10_000]);
  });

  test("does not wait for its pause when what fits changed", () => {
    decisions.startEra();

    expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });
  });

  test("is not told any more once it is scheduled or gone", () => {
    keep(scheduled);
    expect(decisions.nudge()).toEqual([]);

    keep(failed);
    decisions.forget("web");
    expect(decisions.nudge()).toEqual([]);
  });
});

test("a binding that will return to an earlier affinity is looked at then", () => {
  expect(keep({ outcome: "unchanged", returnsAtMs: 5000 }, 1000)).toEqual({ requeueAfterMs: 4000 });
  expect(decisions.turn("web", binding, 2000)).toEqual({ decide: false, requeueAfterMs: 3000 });
  expect(decisions.turn("web", binding, 5000)).toEqual({ decide: true });
});

test("a decision made before what fits changed does not count for after", () => {
  const { era } = decisions;
  decisions.startEra();
  decisions.keep("web", "web", binding, scheduled, era, 0);

  expect(decisions.turn("web", binding, 0)).toEqual({ decide: true });
});
