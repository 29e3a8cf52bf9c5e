/** Cases that the seeded simulation found, each as short as it became (`npm run simulate`). */
import { expect, test } from "vitest";
import type { Plan } from "../../tools/simulate/plan-run.ts";
import { runPlan } from "../../tools/simulate/run-plan.ts";

const push = (name: string) => ({ name, mode: "Push" as const });

const cases: Record<string, Plan> = {
  "a template whose deletion is known late gets no binding again and again": {
    seed: 464,
    members: [push("member1"), push("member2")],
    podMs: 1_000,
    isSteady: false,
    steps: [
      { afterMs: 0, do: "place", kind: "CloneSet", placement: { type: "Divided", weights: { member1: 2 } } },
      { afterMs: 0, do: "apply", kind: "CloneSet", replicas: 2, image: "app:1", partition: 0 },
      { afterMs: 20_000, do: "override", kind: "CloneSet", member: "member2", value: "first" },
      { afterMs: 20_000, fault: "link", link: "hub api", kind: "end-watches", forMs: 1_000 },
      { afterMs: 0, do: "delete", kind: "CloneSet" },
    ],
  },
  "a hub and an agent whose clocks differ do not contradict each other all the time": {
    seed: 314,
    members: [push("member1"), { name: "member2", mode: "Pull" }],
    podMs: 1_000,
    isSteady: false,
    steps: [
      {
        afterMs: 0,
        do: "place",
        kind: "StatefulSet",
        placement: { type: "Duplicated", weights: { member1: 3, member2: 1 } },
      },
      { afterMs: 0, do: "apply", kind: "StatefulSet", replicas: 7, image: "app:1", partition: 0 },
      { afterMs: 0, fault: "clock", process: "hub", byMs: 3_600_000 },
    ],
  },
  "a hub whose clock was set back by an hour notices a member that does not answer": {
    seed: 340,
    members: [push("member1"), push("member2")],
    podMs: 0,
    isSteady: false,
    steps: [{ afterMs: 0, fault: "clock", process: "hub", byMs: 3_600_000 }],
  },
  "a release soaks no longer because the hub's clock was ahead": {
    seed: 34,
    members: [push("member1"), push("member2")],
    podMs: 0,
    isSteady: false,
    steps: [
      {
        afterMs: 0,
        do: "strategy",
        kind: "CloneSet",
        strategy: {
          waves: [{ name: "wave1", soakS: 40, percent: 50 }, { name: "wave2" }],
          maxUnavailable: 1,
          onFailure: "Rollback",
          onUnreachable: "Skip",
          deadlineS: 120,
        },
      },
      {
        afterMs: 0,
        do: "place",
        kind: "CloneSet",
        placement: { type: "Divided", weights: { member1: 1, member2: 1 } },
      },
      { afterMs: 0, do: "apply", kind: "CloneSet", replicas: 2, image: "app:1", partition: 0 },
      { afterMs: 1_000, fault: "clock", process: "hub", byMs: 3_600_000 },
      { afterMs: 0, do: "release", kind: "CloneSet", image: "app:2" },
    ],
  },
};
for (const [behaviour, plan] of Object.entries(cases))
  test(behaviour, async () => {
    expect((await runPlan(plan)).violations).toEqual([]);
  });
