/**
 * Whose turn it is to be handed a part of a long list.
 *
 * When a hub with a full store starts, every informer wants its list at once, and parsing them all takes seconds. The
 * list that is done first goes first, so that whoever needs little (members, policies, bindings) begins to work while
 * the large lists (Works, objects of members) are still being read; and between two parts the event loop does
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
   * Resolves when a list of which so much is left may hand out its next part: in a later turn of the event loop, one
   * list in each.
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
      // As many as there are informers, so that looking through them costs nothing beside a part.
      const shortest = this.#waiting.reduce(
        (best, { left }, index) => (left < (this.#waiting[best]?.left ?? Infinity) ? index : best),
        0,
      );
      this.#waiting.splice(shortest, 1)[0]?.go();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
