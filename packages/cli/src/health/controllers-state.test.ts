import { describe, expect, test } from "vitest";
import { forbidden } from "@flotilla/apimachinery";
import { createFakeClock, formatMicroTime } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { CONTROLLER_GROUPS, controllersLease } from "@flotilla/flotilla";
import type { Lease } from "@flotilla/kubernetes";
import { runClock } from "@flotilla/testing/run-clock.ts";
import { controllersProblem, controllersState, readControllers } from "./controllers-state.ts";
import type { ControllersState } from "./controllers-state.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const lease = (spec?: Lease["spec"], name = "flotilla-controllers"): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "karmada-system", name },
  spec,
});
const specOf = (agoMs: number, holderIdentity?: string): Lease["spec"] => ({
  holderIdentity,
  renewTime: formatMicroTime(NOW - agoMs),
  leaseDurationSeconds: 6,
});
/** The Leases of all groups. */
const renewed = (agoMs: number, holderIdentity?: string): Lease[] =>
  CONTROLLER_GROUPS.map((group) => lease(specOf(agoMs, holderIdentity), controllersLease(group)));
const shard = (index: number, agoMs: number, holderIdentity?: string): Lease =>
  lease(specOf(agoMs, holderIdentity), controllersLease("delivery", { index, count: 3 }));

describe("the controllers of a hub", () => {
  const cases: Record<string, { leases?: Lease[]; want: ControllersState }> = {
    "run inside the API server when there is no Lease": { want: { state: "inside" } },
    "have never run when nothing has ever held the Lease": { leases: [lease()], want: { state: "never" } },
    "run while the Lease is renewed, as far as is known": {
      leases: renewed(2_000, "a"),
      want: { state: "running", forMs: 2_000 },
    },
    "are silent when a renewal is late": { leases: renewed(3_000, "a"), want: { state: "silent", forMs: 3_000 } },
    "stopped when they gave up the Lease": { leases: renewed(1_000), want: { state: "stopped", forMs: 1_000 } },
    "run in part when a group has never run": {
      leases: renewed(1_000, "a").slice(0, 3),
      want: { state: "partial", forMs: 1_000, missing: ["delivery"] },
    },
    "run in part when a shard is missing": {
      leases: [...renewed(1_000, "a").slice(0, 3), shard(0, 500, "b"), shard(1, 9_000, "c"), shard(2, 700)],
      want: { state: "partial", forMs: 1_000, missing: ["delivery 1/3", "delivery 2/3"] },
    },
  };
  for (const [behaviour, { leases = [], want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(controllersState(leases, NOW)).toEqual(want);
    });
  }

  test("that run are not a problem", () => {
    expect(controllersProblem({ state: "running", forMs: 1_000 })).toBeUndefined();
  });

  const problems: Record<string, { state: ControllersState; want: RegExp }> = {
    "that never ran are a problem": { state: { state: "never" }, want: /^no controllers have ever run on this hub/ },
    "that stopped are a problem": {
      state: { state: "stopped", forMs: 7_000 },
      want: /^the hub's controllers stopped 7s ago, so nothing is propagated/,
    },
    "that are silent are a problem": {
      state: { state: "silent", forMs: 7_000 },
      want: /^the hub's controllers have not renewed their Lease for 7s, so nothing is propagated/,
    },
  };
  test("that run in part are a problem, which names what does not run", () => {
    expect(controllersProblem({ state: "partial", forMs: 0, missing: ["ocm", "delivery 1/3"] })?.what).toBe(
      "no process runs the controllers of ocm, delivery 1/3, so their work is not done; those of other groups run",
    );
  });

  for (const [behaviour, { state, want }] of Object.entries(problems)) {
    test(behaviour, () => {
      expect(controllersProblem(state)?.what).toMatch(want);
    });
  }
});

describe("reading the Lease", () => {
  const { signal } = new AbortController();
  /** Answers with each list in turn, the last one again and again. */
  const reading = async (...answers: (Lease[] | Error)[]): Promise<ControllersState> => {
    const clock = createFakeClock(NOW);
    const list = () => {
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve({ items: answer, resourceVersion: "1" });
    };
    const state = readControllers({ client: { list } as unknown as Client, clock, signal });
    await runClock(clock, 10_000, () => new Promise((resolve) => setImmediate(resolve)));
    return state;
  };

  test("a Lease that looks old by our clock but is renewed meanwhile is held by running controllers", async () => {
    expect(await reading(renewed(60_000, "a"), renewed(58_000, "a"))).toEqual({
      state: "running",
      forMs: 0,
    });
  });

  const changes: Record<string, { next: Lease[]; want: ControllersState }> = {
    "that is given up meanwhile belongs to controllers that stopped": {
      next: renewed(-500),
      want: { state: "stopped", forMs: 0 },
    },
    "that is deleted meanwhile is held by none": {
      next: [],
      want: { state: "inside" },
    },
    "that is created again meanwhile without a holder has had none": {
      next: [lease()],
      want: { state: "never" },
    },
  };
  for (const [behaviour, { next, want }] of Object.entries(changes)) {
    test(`a Lease ${behaviour}`, async () => {
      expect(await reading(renewed(3_000, "a"), next)).toEqual(want);
    });
  }

  test("a Lease that is not renewed meanwhile belongs to silent controllers", async () => {
    expect(await reading(renewed(3_000, "a"))).toEqual({ state: "silent", forMs: 7_000 });
  });

  test("a Lease that a clock ahead of ours renewed, and that is not renewed meanwhile, belongs to silent controllers", async () => {
    expect(await reading(renewed(-4_000, "a"))).toEqual({ state: "silent", forMs: 0 });
  });

  test("a Lease that may not be read says nothing", async () => {
    expect(await reading(forbidden({ group: "", resource: "leases" }, "", "no"))).toEqual({ state: "unknown" });
  });
});
