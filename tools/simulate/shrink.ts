/** Drops steps of a plan for as long as the same invariant is still broken without them. */
import type { Plan, Step } from "./plan-run.ts";
import { runPlan } from "./run-plan.ts";
import type { RunResult } from "./run-plan.ts";

/** Enough for twenty steps; a run takes a third of a second. */
const MAX_RUNS = 120;

export interface Shrunk {
  plan: Plan;
  result: RunResult;
  runs: number;
}

export async function shrink(plan: Plan, result: RunResult): Promise<Shrunk> {
  const invariant = result.violations[0]?.invariant;
  let best = { plan, result, runs: 0 };
  let runs = 0;
  const fails = async (steps: readonly Step[]): Promise<boolean> => {
    if (runs >= MAX_RUNS) return false;
    runs++;
    const shorter = { ...plan, steps };
    const again = await runPlan(shorter);
    const isSame = again.violations.some((violation) => violation.invariant === invariant);
    if (isSame) best = { plan: shorter, result: again, runs };
    return isSame;
  };
  for (let size = Math.ceil(plan.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < best.plan.steps.length;) {
      const { steps } = best.plan;
      if (!(await fails([...steps.slice(0, at), ...steps.slice(at + size)]))) at += size;
    }
  return { ...best, runs };
}
