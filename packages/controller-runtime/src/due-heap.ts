/**
 * A heap of items ordered by due time, those with the same time in insertion order. Each item has its position, so that
 * it can be removed or moved at logarithmic cost: a key that is rescheduled a thousand times still takes one slot.
 */
export interface Due {
  dueMs: number;
  /** The position in the heap; -1 while it is not in the heap. */
  place: number;
  /** Breaks ties between equal due times, lower first; set by the heap. */
  turn?: number;
}

const isBefore = (a: Due, b: Due): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && (a.turn ?? 0) < (b.turn ?? 0));

export class DueHeap<T extends Due> {
  readonly #items: T[] = [];
  #turn = 0;

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.turn = ++this.#turn;
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  remove(item: T): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop();
    if (!last || last === item) return;
    this.#rise(last, place);
    this.#sink(last, last.place);
  }

  #rise(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#items[parentPlace];
      if (!parent || isBefore(parent, item)) break;
      this.#put(parent, place);
      place = parentPlace;
    }
    this.#put(item, place);
  }

  #sink(item: T, from: number): void {
    let place = from;
    for (;;) {
      const left = this.#items[2 * place + 1];
      const right = this.#items[2 * place + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || isBefore(item, child)) break;
      const childPlace = child.place;
      this.#put(child, place);
      place = childPlace;
    }
    this.#put(item, place);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}
