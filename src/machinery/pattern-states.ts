/**
 * A set of states that is emptied at once and keeps its members side by side, so that walking it costs what it holds.
 */
export class StateSet {
  readonly members: Int32Array;
  size = 0;
  /** States that were looked at since the set was emptied, members or not. */
  visited = 0;
  /** When a state was last looked at. Doubles do not run over. */
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

  /** False when the state was looked at before. */
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
