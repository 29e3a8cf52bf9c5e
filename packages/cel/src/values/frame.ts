/** The state of one evaluation: the values of variables, and the cost so far. */
import { CelError, type CelValue } from "./values.ts";

/** The maximum cost of one evaluation. */
const MAX_CALL_COST = 1_000_000;

/** A cost unit is the time of about ten search steps (`PatternWork`). */
const STEPS_PER_COST = 10;
/** Search steps beyond their cost that are free; the rest is charged. */
export const FREE_SEARCH_STEPS = 10_000_000;
/** More than an evaluation can pay for, so a search that is stopped here ends it. */
export const MAX_SEARCH_STEPS = FREE_SEARCH_STEPS + (MAX_CALL_COST + 1) * STEPS_PER_COST;

/** Thrown to leave an evaluation that exceeds its cost limit; created once, because its stack trace is not used. */
export class CostExceeded extends Error {}
const COST_EXCEEDED = new CostExceeded("actual cost limit exceeded");
export const COST_ERROR = new CelError("operation cancelled: actual cost limit exceeded");

export class Frame {
  readonly slots: (CelValue | undefined)[];
  cost = 0;
  freeSearchSteps: number;

  constructor(slots: (CelValue | undefined)[], freeSearchSteps: number) {
    this.slots = slots;
    this.freeSearchSteps = freeSearchSteps;
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > MAX_CALL_COST) throw COST_EXCEEDED;
  }

  /**
   * Kubernetes sets the cost of a search by the lengths of text and pattern. A short pattern may contain large
   * repetitions, and finding all matches may read the text again for each. Such searches are charged for their actual
   * steps.
   */
  chargeSearch(cost: number, steps: number): void {
    this.charge(cost);
    const excess = steps - cost * STEPS_PER_COST;
    if (excess <= 0) return;
    const free = Math.min(excess, this.freeSearchSteps);
    this.freeSearchSteps -= free;
    this.charge(Math.ceil((excess - free) / STEPS_PER_COST));
  }
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => CelValue;
