/**
 * A queue with constant cost: a list with a moving head, because `shift` of a long array and the front of a Map are not
 * constant.
 */
const COMPACT_AFTER = 1024;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  /** The oldest item, without removing it; undefined when it is empty. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  /** Removes and returns the oldest item; undefined when it is empty. */
  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head >= COMPACT_AFTER && this.#head * 2 >= this.#items.length) {
      // At least half of the list is empty, so moving the rest costs no more than the shifts that emptied it.
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
