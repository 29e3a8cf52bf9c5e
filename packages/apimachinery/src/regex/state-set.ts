import { MAX_PROGRAM_SIZE } from "./size.ts";

/**
 * A set of states that is cleared in constant time and stores its members contiguously, so that iterating costs no more
 * than its size.
 */
export class StateSet {
  readonly members: Int32Array;
  /** By the index of a member: where the match that led to it started. Only searches need it. */
  readonly starts: Int32Array;
  size = 0;
  /** States visited since the set was cleared, members or not. */
  visited = 0;
  /** When a state was last visited. Doubles do not overflow. */
  private readonly seenAt: Float64Array;
  private round = 1;

  constructor(capacity: number) {
    this.members = new Int32Array(capacity);
    this.starts = new Int32Array(capacity);
    this.seenAt = new Float64Array(capacity);
  }

  clear(): void {
    this.size = 0;
    this.visited = 0;
    this.round += 1;
  }

  /** False when the state was visited before. */
  visit(state: number): boolean {
    if (this.seenAt[state] === this.round) return false;
    this.seenAt[state] = this.round;
    this.visited += 1;
    return true;
  }

  hasVisited(state: number): boolean {
    return this.seenAt[state] === this.round;
  }

  /** For a state that was just visited. */
  push(state: number, start = 0): void {
    this.starts[this.size] = start;
    this.members[this.size++] = state;
  }
}

/** Matching is synchronous, so all patterns share the working sets. */
export const room = {
  current: new StateSet(MAX_PROGRAM_SIZE),
  next: new StateSet(MAX_PROGRAM_SIZE),
  /** States that have to be visited. Each visit adds two at most. */
  open: new Int32Array(2 * MAX_PROGRAM_SIZE),
};
