import { describe, expect, test } from "vitest";
import { forbidden } from "@flotilla/apimachinery";
import { createFakeClock, formatMicroTime } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Lease } from "@flotilla/kubernetes";
import { runClock } from "@flotilla/testing/run-clock.ts";
import { controllersProblem, controllersState, readControllers } from "./controllers-state.ts";
import type { ControllersState } from "./controllers-state.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const lease = (spec?: Lease["spec"]): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "karmada-system", name: "flotilla-controllers" },
  spec,
});
const renewed = (agoMs: number, holderIdentity?: string): Lease =>
  lease({ holderIdentity, renewTime: formatMicroTime(NOW - agoMs), leaseDurationSeconds: 15 });

describe("the controllers of a hub", () => {
  const cases: Record<string, { lease?: Lease; want: ControllersState }> = {
    "run inside the API server when there is no Lease": { want: { state: "inside" } },
    "have never run when nothing has ever held the Lease": { lease: lease(), want: { state: "never" } },
    "run while the Lease is renewed, as far as is known": {
      lease: renewed(2_000, "a"),
      want: { state: "running", forMs: 2_000 },
    },
    "are silent when a renewal is late": { lease: renewed(3_000, "a"), want: { state: "silent", forMs: 3_000 } },
    "stopped when they gave up the Lease": { lease: renewed(1_000), want: { state: "stopped", forMs: 1_000 } },
  };
  for (const [behaviour, { lease: held, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(controllersState(held, NOW)).toEqual(want);
    });
  }

  test("the controllers of a hub that run are not a problem", () => {
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
    expect(await reading([renewed(60_000, "a")], [renewed(58_000, "a")])).toEqual({
      state: "running",
      forMs: 0,
    });
  });

  const changes: Record<string, { next: Lease[]; want: ControllersState }> = {
    "that is released meanwhile means that the controllers stopped": {
      next: [renewed(-500)],
      want: { state: "stopped", forMs: 0 },
    },
    "that is deleted meanwhile has no holder": {
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
      expect(await reading([renewed(3_000, "a")], next)).toEqual(want);
    });
  }

  test("a Lease that is not renewed meanwhile belongs to silent controllers", async () => {
    expect(await reading([renewed(3_000, "a")])).toEqual({ state: "silent", forMs: 7_000 });
  });

  test("a Lease that a clock ahead of ours renewed, and that is not renewed meanwhile, belongs to silent controllers", async () => {
    expect(await reading([renewed(-4_000, "a")])).toEqual({ state: "silent", forMs: 0 });
  });

  test("a Lease that may not be read says nothing", async () => {
    expect(await reading(forbidden({ group: "", resource: "leases" }, "", "no"))).toEqual({ state: "unknown" });
  });
});
