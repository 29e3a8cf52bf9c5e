/** Runs one seed, twice if asked to, and shrinks it if it fails. */
import type { JudgedSeed } from "./worker-messages.ts";
import { planRun } from "./plan-run.ts";
import { runPlan } from "./run-plan.ts";
import { shrink } from "./shrink.ts";

export async function judgeSeed(
  seed: number,
  { shrinks, isRepeated }: { shrinks: boolean; isRepeated: boolean },
): Promise<JudgedSeed> {
  const plan = planRun(seed);
  const result = await runPlan(plan);
  if (isRepeated) {
    const again = await runPlan(plan);
    if (again.digest !== result.digest)
      return {
        result: {
          ...result,
          violations: [
            ...result.violations,
            {
              invariant: "the same seed is the same run",
              atMs: 0,
              details: `the events of the first run have the hash ${result.digest}, those of the second ${again.digest}`,
            },
          ],
        },
        shrunk: undefined,
      };
  }
  if (!shrinks || result.violations.length === 0) return { result, shrunk: undefined };
  const shrunk = await shrink(plan, result);
  return {
    result,
    shrunk: { result: shrunk.result, dropped: plan.steps.length - shrunk.plan.steps.length, runs: shrunk.runs },
  };
}
