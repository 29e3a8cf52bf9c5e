import { assert, constantFrom, integer, array, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { moveOf, movesOf, withMoves } from "../moves/move-history.ts";
import { planEvictions, type EvictionViews } from "./plan-evictions.ts";
import type { ScaleTarget } from "./scale-targets.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2024-05-01T12:00:00Z");
const TIMEOUT = 10 * MINUTE;

const task = (fields: Partial<GracefulEvictionTask> = {}): GracefulEvictionTask => ({
  fromCluster: "oslo",
  purgeMode: "Gracefully",
  reason: "Test",
  producer: "test",
  creationTimestamp: "2024-05-01T11:59:00Z",
  ...fields,
});
type Health = "Healthy" | "Unhealthy" | "Unknown";
interface State {
  clusters?: Record<string, number>;
  health?: Record<string, Health>;
  available?: Record<string, number>;
  isObserved?: boolean;
  isScheduled?: boolean;
}

const bindingOf = (
  tasks: GracefulEvictionTask[],
  { clusters = { rome: 4 }, health = {}, available = {}, isObserved = true, isScheduled = true }: State = {},
): ResourceBinding =>
  makeBinding(makeDeployment("shop/web").replicas(4).build())
    .targets(clusters)
    .with((binding) => {
      binding.metadata.generation = 7;
      binding.spec.gracefulEvictionTasks = tasks;
      binding.status = {
        schedulerObservedGeneration: isObserved ? 7 : 6,
        conditions: [
          {
            type: "Scheduled",
            status: isScheduled ? "True" : "False",
            reason: "Test",
            message: "",
            lastTransitionTime: "2024-05-01T11:59:00Z",
          },
        ],
        aggregatedStatus: Object.entries(health).map(([clusterName, value]) => ({
          clusterName,
          health: value,
          status: available[clusterName] !== undefined ? { availableReplicas: available[clusterName] } : undefined,
        })),
      };
    })
    .build();
const endings = (binding: ResourceBinding, nowMs = NOW, views: EvictionViews = {}): string[] =>
  planEvictions(binding, TIMEOUT, nowMs, views).ended.map(
    ({ task: { fromCluster }, ending }) => `${fromCluster} ${ending}`,
  );

const WELL: State = { health: { rome: "Healthy", oslo: "Unhealthy" }, available: { rome: 4 } };

const cases: Record<string, { task?: Partial<GracefulEvictionTask>; state?: State; afterMs?: number; want: string[] }> =
  {
    "a task ends when all new copies are healthy": { state: WELL, want: ["oslo Replaced"] },
    "a task continues while the new copy is unhealthy": { state: { health: { rome: "Unhealthy" } }, want: [] },
    "a task continues while the new copy has not reported": { state: {}, want: [] },
    "a task continues while the new copy has fewer available replicas than its share": {
      state: { ...WELL, available: { rome: 2 } },
      want: [],
    },
    "a kind without available replicas is up when it reports healthy": {
      state: { health: { rome: "Healthy" } },
      want: ["oslo Replaced"],
    },
    "a status from before the scheduling decision is ignored": { state: { ...WELL, isObserved: false }, want: [] },
    "a copy stays while the scheduler has found no cluster": {
      state: { ...WELL, isScheduled: false },
      afterMs: 60 * MINUTE,
      want: [],
    },
    "a copy stays until the scheduler has observed the task": {
      state: { ...WELL, clusters: { oslo: 4 }, isObserved: false },
      afterMs: 60 * MINUTE,
      want: [],
    },
    "a task is withdrawn when the scheduler has observed it and selects the cluster again": {
      state: { ...WELL, clusters: { oslo: 4 } },
      want: ["oslo Withdrawn"],
    },
    "an unhealthy copy is evicted after the timeout": {
      state: { health: { oslo: "Unhealthy", rome: "Unhealthy" } },
      afterMs: 10 * MINUTE,
      want: ["oslo TimedOut"],
    },
    "a healthy copy stays after the default timeout": {
      state: { health: { oslo: "Healthy", rome: "Unhealthy" } },
      afterMs: 60 * MINUTE,
      want: [],
    },
    "a healthy copy is evicted after the policy's gracePeriodSeconds": {
      task: { gracePeriodSeconds: 300 },
      state: { health: { oslo: "Healthy", rome: "Unhealthy" } },
      afterMs: 4 * MINUTE,
      want: ["oslo TimedOut"],
    },
    "no copy is evicted before the policy's gracePeriodSeconds": {
      task: { gracePeriodSeconds: 300 },
      state: { health: { oslo: "Unhealthy", rome: "Unhealthy" } },
      afterMs: 3 * MINUTE,
      want: [],
    },
    "a copy with purge mode Never stays": {
      task: { purgeMode: "Never", suppressDeletion: true },
      state: WELL,
      afterMs: 600 * MINUTE,
      want: [],
    },
    "a copy with purge mode Never is evicted when suppressDeletion is set to false": {
      task: { purgeMode: "Never", suppressDeletion: false },
      state: {},
      want: ["oslo Confirmed"],
    },
    "a task with purge mode Directly ends after the timeout in any case": {
      task: { purgeMode: "Directly" },
      state: { isScheduled: false },
      afterMs: 10 * MINUTE,
      want: ["oslo TimedOut"],
    },
  };
for (const [behaviour, { task: fields, state, afterMs = 0, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(endings(bindingOf([task(fields)], state), NOW + afterMs)).toEqual(want);
  });
}

test("a task ends with the replicas that a member decided, although its share is larger", () => {
  const short = bindingOf([task()], { ...WELL, available: { rome: 1 } });

  expect(endings(short)).toEqual([]);
  expect(endings(short, NOW, { decidesReplicas: new Set(["rome"]) })).toEqual(["oslo Replaced"]);
});

test("an autoscaler stays while its target leaves, and for the timeout while its target stays", () => {
  const autoscaler = bindingOf([task()], WELL);
  const scaling = (state: ScaleTarget) => ({ scaleTargets: new Map([["oslo", state]]) });

  expect(planEvictions(autoscaler, TIMEOUT, NOW, scaling("leaving")).requeueAfterMs).toBe(2_000);
  expect(endings(autoscaler, NOW + 60 * MINUTE, scaling("leaving"))).toEqual([]);
  expect(endings(autoscaler, NOW, scaling("staying"))).toEqual([]);
  expect(endings(autoscaler, NOW + 9 * MINUTE, scaling("staying"))).toEqual(["oslo Replaced"]);
  expect(endings(autoscaler, NOW)).toEqual(["oslo Replaced"]);
});

test("a task without creationTimestamp gets the time of first observation, and does not time out before", () => {
  const { creationTimestamp: _unset, ...untimed } = task();

  const plan = planEvictions(bindingOf([untimed], WELL), TIMEOUT, NOW);

  expect(plan).toEqual({
    tasks: [task({ creationTimestamp: "2024-05-01T12:00:00Z" })],
    ended: [],
    requeueAfterMs: TIMEOUT,
  });
});

test("an unchanged list is returned as the same object, and requeued when the first task expires", () => {
  const binding = bindingOf([task(), task({ fromCluster: "bonn", gracePeriodSeconds: 120 })]);

  const plan = planEvictions(binding, TIMEOUT, NOW);

  expect(plan.tasks).toBe(binding.spec.gracefulEvictionTasks);
  expect(plan.requeueAfterMs).toBe(MINUTE);
});

test("an eviction without a policy deadline never leaves fewer healthy replicas than before", () => {
  const health = constantFrom<Health>("Healthy", "Unhealthy", "Unknown");
  const member = record({ health, available: integer({ min: 0, max: 4 }) });
  assert(
    property(
      member,
      array(member, { minLength: 1, maxLength: 3 }),
      integer({ min: 0, max: 120 }),
      (old, others, minutes) => {
        const names = others.map((_each, index) => `m${index}`);
        const share = Math.ceil(4 / others.length);
        const binding = bindingOf([task()], {
          clusters: Object.fromEntries(names.map((name) => [name, share])),
          health: { oslo: old.health, ...Object.fromEntries(others.map((each, index) => [`m${index}`, each.health])) },
          available: {
            oslo: old.available,
            ...Object.fromEntries(others.map((each, index) => [`m${index}`, each.available])),
          },
        });
        const healthy = (items: typeof others): number =>
          items.filter((item) => item.health === "Healthy").reduce((sum, { available }) => sum + available, 0);

        const isGone = planEvictions(binding, TIMEOUT, NOW + minutes * MINUTE).ended.length > 0;

        // A member that is healthy all the time with fewer replicas than its share has the number that its overrides
        // specify.
        const isShortOfReplicas = others.every((item) => item.health === "Healthy") && minutes >= 9;
        expect(!isGone || isShortOfReplicas || healthy(others) >= healthy([old])).toBe(true);
      },
    ),
    { seed: 5, numRuns: 2000 },
  );
});

describe("the record of moves", () => {
  test("contains cause, source, and clusters before and after", () => {
    const binding = bindingOf([], WELL);

    expect(
      moveOf(binding, task({ replicas: 4, message: "it was ill", clustersBeforeFailover: ["oslo"] }), "Replaced", NOW),
    ).toEqual({
      from: "oslo",
      replicas: 4,
      cause: "Test",
      message: "it was ill",
      actor: "test",
      before: ["oslo"],
      after: ["rome=4"],
      began: "2024-05-01T11:59:00Z",
      ended: "2024-05-01T12:00:00Z",
      ending: "Replaced",
    });
  });

  test("keeps the latest few, and starts over when it is corrupt", () => {
    const binding = bindingOf([], WELL);
    for (let time = 0; time < 9; time++)
      binding.metadata.annotations = {
        "flotilla.dev/moves": withMoves(binding, [moveOf(binding, task({ fromCluster: `m${time}` }), "TimedOut", NOW)]),
      };
    expect(movesOf(binding).map((move) => (move as { from: string }).from)).toEqual(["m4", "m5", "m6", "m7", "m8"]);

    binding.metadata.annotations = { "flotilla.dev/moves": "{" };
    expect(movesOf(binding)).toEqual([]);
  });

  test("names a few clusters of many", () => {
    const before = Array.from({ length: 100 }, (_each, index) => `m${index}`);

    expect(moveOf(bindingOf([]), task({ clustersBeforeFailover: before }), "Replaced", NOW).before).toEqual([
      ...before.slice(0, 8),
      "and 92 more",
    ]);
  });
});
