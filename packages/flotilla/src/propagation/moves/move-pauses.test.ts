import { assert, array, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { nextMoveAt, placeInRow } from "./move-pauses.ts";

const NOON = Date.parse("2024-05-01T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (minutes: number): string => new Date(NOON + minutes * MINUTE).toISOString();

interface Past {
  moves?: { began: number; ended: number; inRow?: unknown; cause?: string }[];
  /** Minutes at which the pending eviction tasks were created. */
  tasks?: number[];
  tolerationMinutes?: number;
}

function bindingWith({ moves = [], tasks = [], tolerationMinutes = 5 }: Past): ResourceBinding {
  return makeBinding(makeDeployment("shop/web").build())
    .targets("oslo")
    .with((binding) => {
      binding.spec.failover = { application: { decisionConditions: { tolerationSeconds: tolerationMinutes * 60 } } };
      binding.spec.gracefulEvictionTasks = tasks.map((minute, index): GracefulEvictionTask => ({
        fromCluster: `m${index}`,
        reason: "ApplicationFailure",
        producer: "test",
        creationTimestamp: at(minute),
      }));
      binding.metadata.annotations = {
        "flotilla.dev/moves": JSON.stringify(
          moves.map(({ began, ended, cause = "ApplicationFailure", ...rest }) => ({
            from: "rome",
            cause,
            began: at(began),
            ended: at(ended),
            ...rest,
          })),
        ),
      };
    })
    .build();
}

const cases: Record<string, Past & { nowMinute: number; want: number }> = {
  "an application that never moved may move at once": { nowMinute: 0, want: 0 },
  "the second move waits for the policy's toleration after the first": {
    moves: [{ began: 0, ended: 10, inRow: 1 }],
    nowMinute: 11,
    want: 15,
  },
  "the third move waits twice as long": {
    moves: [
      { began: 0, ended: 10, inRow: 1 },
      { began: 15, ended: 25, inRow: 2 },
    ],
    nowMinute: 26,
    want: 35,
  },
  "the position in the row is stored, because older moves are dropped": {
    moves: [{ began: 0, ended: 10, inRow: 6 }],
    nowMinute: 11,
    want: 10 + 5 * 32,
  },
  "no pause is longer than six hours": { moves: [{ began: 0, ended: 10, inRow: 30 }], nowMinute: 11, want: 10 + 360 },
  "a longer toleration of the policy exceeds the six hours": {
    moves: [{ began: 0, ended: 10, inRow: 3 }],
    tolerationMinutes: 600,
    nowMinute: 700,
    want: 610,
  },
  "a policy without toleration still waits half a minute": {
    moves: [{ began: 0, ended: 10, inRow: 1 }],
    tolerationMinutes: 0,
    nowMinute: 10,
    want: 10.5,
  },
  "a move in progress counts from its start": { tasks: [0], nowMinute: 6, want: 5 },
  "members that fail within one toleration are left together": { tasks: [0, 2], nowMinute: 4, want: 4 },
  "members that fail within one toleration count as one move": { tasks: [0, 2], nowMinute: 6, want: 7 },
  "moves with another cause do not count": {
    moves: [{ began: 0, ended: 10, inRow: 5, cause: "TaintUntolerated" }],
    nowMinute: 11,
    want: 11,
  },
  "a corrupt record counts for its valid part": {
    moves: [{ began: 0, ended: 10, inRow: "many" }],
    nowMinute: 11,
    want: 15,
  },
};
for (const [behaviour, { nowMinute, want, ...past }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(nextMoveAt(bindingWith(past), NOON + nowMinute * MINUTE).atMs).toBe(NOON + want * MINUTE);
  });
}

describe("the position of a move in its row", () => {
  const placeOf = (past: Past, tasks: number[]): number => {
    const binding = bindingWith({ ...past, tasks });
    const newest = binding.spec.gracefulEvictionTasks?.at(-1);
    return newest ? placeInRow(binding, newest) : 0;
  };

  test("is one more than that of the previous move", () => {
    expect(placeOf({ moves: [{ began: 0, ended: 10, inRow: 7 }] }, [400])).toBe(8);
  });

  test("restarts after the application stayed for twice the required time", () => {
    const past = { moves: [{ began: 0, ended: 10, inRow: 2 }] };

    expect([placeOf(past, [29]), placeOf(past, [31])]).toEqual([3, 1]);
  });
});

test("an application that fails immediately everywhere moves only a few times a day", () => {
  assert(
    property(
      integer({ min: 0, max: 600 }),
      array(integer({ min: 0, max: 10 }), { minLength: 50, maxLength: 50 }),
      (tolerationSeconds, graces) => {
        let nowMs = NOON;
        const moves: Required<Past>["moves"] = [];
        const minuteOf = (ms: number): number => (ms - NOON) / MINUTE;
        for (const grace of graces) {
          const binding = bindingWith({ moves: moves.slice(-5), tolerationMinutes: tolerationSeconds / 60 });
          nowMs = Math.max(nowMs, nextMoveAt(binding, nowMs).atMs);
          if (nowMs >= NOON + 24 * HOUR) break;
          const ordered = {
            ...binding,
            spec: {
              ...binding.spec,
              gracefulEvictionTasks: [
                {
                  fromCluster: "oslo",
                  reason: "ApplicationFailure",
                  producer: "test",
                  creationTimestamp: new Date(nowMs).toISOString(),
                },
              ],
            },
          };
          const inRow = placeInRow(ordered, ordered.spec.gracefulEvictionTasks[0] as GracefulEvictionTask);
          moves.push({ began: minuteOf(nowMs), ended: minuteOf(nowMs) + grace, inRow });
          // It stays unhealthy on the new cluster for the tolerated time.
          nowMs += Math.max(grace * MINUTE, tolerationSeconds * 1000);
        }

        expect(moves.length).toBeLessThanOrEqual(16);
      },
    ),
    { seed: 3, numRuns: 200 },
  );
});
