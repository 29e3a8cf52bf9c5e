/** What one evaluation keeps: the values of variables, and what it has cost so far. */
import { CelError, type CelValue } from "./values.ts";

/** The most that one evaluation may cost. */
const MAX_CALL_COST = 1_000_000;

/** Thrown to leave an evaluation whose cost is over its limit; made once, because nobody looks at where. */
export class CostExceeded extends Error {}
const COST_EXCEEDED = new CostExceeded("actual cost limit exceeded");
export const COST_ERROR = new CelError("operation cancelled: actual cost limit exceeded");

export class Frame {
  readonly slots: (CelValue | undefined)[];
  cost = 0;

  constructor(slots: (CelValue | undefined)[]) {
    this.slots = slots;
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > MAX_CALL_COST) throw COST_EXCEEDED;
  }
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => CelValue;
