/**
 * A set of states that is cleared in constant time and stores its members contiguously, so that iterating costs no more
 * than its size.
 */
export class StateSet {
  readonly members: Int32Array;
  size = 0;
  /** States visited since the set was cleared, members or not. */
  visited = 0;
  /** When a state was last visited. Doubles do not overflow. */
  private readonly seenAt: Float64Array;
  private round = 1;

  constructor(capacity: number) {
    this.members = new Int32Array(capacity);
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
  push(state: number): void {
    this.members[this.size++] = state;
  }
}
