/**
 * A long list that waits to deliver its next part.
 *
 * When a hub with a full store starts, every informer lists at once, and parsing everything takes seconds. The list
 * with the least left comes first, so that controllers with short lists (members, policies, bindings) start to work
 * while the long lists (Works, objects of members) are still being read. Between two parts the event loop does
 * everything else.
 */
interface Waiting {
  left: number;
  go(): void;
}

export class ListTurns {
  readonly #waiting: Waiting[] = [];
  #isScheduled = false;

  /**
   * Resolves when a list with this much left may deliver its next part: in a later turn of the event loop, one list per
   * turn.
   */
  next(left: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ left, go });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      // As many as there are informers, so searching them is cheap compared with a part.
      const shortest = this.#waiting.reduce(
        (best, { left }, index) => (left < (this.#waiting[best]?.left ?? Infinity) ? index : best),
        0,
      );
      this.#waiting.splice(shortest, 1)[0]?.go();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
