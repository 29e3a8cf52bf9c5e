/** A slice of the seeded simulation: fleets with faults at random, and every invariant (`npm run simulate` has no end). */
import { expect, test } from "vitest";
import { runs } from "@flotilla/testing/runs.ts";
import { planRun } from "../../tools/simulate/plan-run.ts";
import { runPlan } from "../../tools/simulate/run-plan.ts";

const SEEDS = runs(30);

test(`${SEEDS} seeds break no invariant`, { timeout: 300_000 }, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations, story } = await runPlan(planRun(seed));

    expect(violations, `npm run simulate -- --seeds 1 --seed ${seed}\n${story.join("\n")}`).toEqual([]);
  }
});

test("the same seed is the same run, also after other runs in the same process", async () => {
  const first = await runPlan(planRun(11));
  await runPlan(planRun(12));
  const again = await runPlan(planRun(11));

  expect(again.digest).toBe(first.digest);
  expect(again.story).toEqual(first.story);
});
