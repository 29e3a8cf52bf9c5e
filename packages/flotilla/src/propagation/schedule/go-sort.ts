/**
 * Sorts equal items into the same order as Go's standard library.
 *
 * Aggregated division takes the largest clusters first, and Karmada sorts them by size with an unstable sort: the order
 * of two clusters of equal size follows from the steps of the algorithm. A fleet that migrates from Karmada must not
 * see its workloads move, so the steps are repeated here: pattern-defeating quicksort, and insertion sort (which is
 * stable) for up to twelve items.
 */
export type Less<T> = (a: T, b: T) => boolean;

/** A sorted copy. */
export function goSort<T>(items: readonly T[], less: Less<T>): T[] {
  const row = [...items];
  new GoSorter(row, less).sort(0, row.length, bitLength(row.length));
  return row;
}

const INSERTION_LENGTH = 12;
/** From here on the pivot is a median of medians. */
const NINTHER_LENGTH = 50;
/** All comparisons of a pivot choice had the same result: the slice is probably descending. */
const ALL_SWAPPED = 12;
const PARTIAL_STEPS = 5;

const bitLength = (value: number): number => (value === 0 ? 0 : 32 - Math.clz32(value));

class GoSorter<T> {
  private readonly row: T[];
  private readonly less: Less<T>;
  private swaps = 0;

  constructor(row: T[], less: Less<T>) {
    this.row = row;
    this.less = less;
  }

  /** Sorts `[start, end)`. `limit` bad pivots are accepted before heap sort takes over. */
  sort(start: number, end: number, limit: number): void {
    let [from, to, left] = [start, end, limit];
    let balanced = true;
    let partitioned = true;
    for (;;) {
      const length = to - from;
      if (length <= INSERTION_LENGTH) return this.insertionSort(from, to);
      if (left === 0) return this.heapSort(from, to);
      if (!balanced) {
        this.breakPatterns(from, to);
        left--;
      }
      let { pivot, order } = this.choosePivot(from, to);
      if (order === "descending") {
        this.reverse(from, to);
        pivot = to - 1 - (pivot - from);
        order = "ascending";
      }
      if (balanced && partitioned && order === "ascending" && this.finishSorted(from, to)) return;
      // The item before this part is no smaller than the pivot, so the part begins with items equal to it.
      if (from > 0 && !this.isLess(from - 1, pivot)) {
        from = this.splitEqual(from, to, pivot);
        continue;
      }
      const split = this.split(from, to, pivot);
      partitioned = split.untouched;
      const { middle } = split;
      const threshold = length >> 3;
      if (middle - from < to - middle) {
        balanced = middle - from >= threshold;
        this.sort(from, middle, left);
        from = middle + 1;
      } else {
        balanced = to - middle >= threshold;
        this.sort(middle + 1, to, left);
        to = middle;
      }
    }
  }

  private isLess(a: number, b: number): boolean {
    return this.less(this.row[a] as T, this.row[b] as T);
  }

  private swap(a: number, b: number): void {
    const item = this.row[a] as T;
    this.row[a] = this.row[b] as T;
    this.row[b] = item;
  }

  private insertionSort(from: number, to: number): void {
    for (let next = from + 1; next < to; next++) {
      for (let at = next; at > from && this.isLess(at, at - 1); at--) this.swap(at, at - 1);
    }
  }

  private heapSort(from: number, to: number): void {
    const length = to - from;
    for (let root = (length - 1) >> 1; root >= 0; root--) this.sink(root, length, from);
    for (let last = length - 1; last >= 0; last--) {
      this.swap(from, from + last);
      this.sink(0, last, from);
    }
  }

  private sink(start: number, length: number, offset: number): void {
    for (let root = start; ;) {
      let child = 2 * root + 1;
      if (child >= length) return;
      if (child + 1 < length && this.isLess(offset + child, offset + child + 1)) child++;
      if (!this.isLess(offset + root, offset + child)) return;
      this.swap(offset + root, offset + child);
      root = child;
    }
  }

  private reverse(from: number, to: number): void {
    for (let low = from, high = to - 1; low < high; low++, high--) this.swap(low, high);
  }

  /** Moves items less than the pivot before it. `untouched` when nothing had to move. */
  private split(from: number, to: number, pivot: number): { middle: number; untouched: boolean } {
    this.swap(from, pivot);
    let low = from + 1;
    let high = to - 1;
    for (let swapped = false; ; swapped = true) {
      while (low <= high && this.isLess(low, from)) low++;
      while (low <= high && !this.isLess(high, from)) high--;
      if (low > high) {
        this.swap(high, from);
        return { middle: high, untouched: !swapped };
      }
      this.swap(low++, high--);
    }
  }

  /** Moves items equal to the pivot before greater ones; none is less. */
  private splitEqual(from: number, to: number, pivot: number): number {
    this.swap(from, pivot);
    let low = from + 1;
    let high = to - 1;
    for (;;) {
      while (low <= high && !this.isLess(from, low)) low++;
      while (low <= high && this.isLess(from, high)) high--;
      if (low > high) return low;
      this.swap(low++, high--);
    }
  }

  /** Finishes a slice that is sorted except for a few items; false when it gives up. */
  private finishSorted(from: number, to: number): boolean {
    let at = from + 1;
    for (let step = 0; step < PARTIAL_STEPS; step++) {
      while (at < to && !this.isLess(at, at - 1)) at++;
      if (at === to) return true;
      if (to - from < NINTHER_LENGTH) return false;
      this.swap(at, at - 1);
      if (at - from >= 2)
        for (let down = at - 1; down >= 1 && this.isLess(down, down - 1); down--) this.swap(down, down - 1);
      if (to - at >= 2) for (let up = at + 1; up < to && this.isLess(up, up - 1); up++) this.swap(up, up - 1);
    }
    return false;
  }

  /**
   * Scatters three items after bad pivots; the randomness is a xorshift seeded with the length, so it is deterministic.
   */
  private breakPatterns(from: number, to: number): void {
    const length = to - from;
    let state = BigInt(length);
    const mask = (1n << BigInt(bitLength(length))) - 1n;
    const middle = from + (length >> 2) * 2 - 1;
    for (let index = 0; index < 3; index++) {
      state ^= BigInt.asUintN(64, state << 13n);
      state ^= state >> 7n;
      state ^= BigInt.asUintN(64, state << 17n);
      const other = Number(state & mask);
      this.swap(middle - 1 + index, from + (other >= length ? other - length : other));
    }
  }

  private choosePivot(from: number, to: number): { pivot: number; order: "ascending" | "descending" | "unknown" } {
    const quarter = (to - from) >> 2;
    let [low, middle, high] = [from + quarter, from + quarter * 2, from + quarter * 3];
    this.swaps = 0;
    if (to - from >= NINTHER_LENGTH) {
      low = this.median(low - 1, low, low + 1);
      middle = this.median(middle - 1, middle, middle + 1);
      high = this.median(high - 1, high, high + 1);
    }
    const pivot = this.median(low, middle, high);
    if (this.swaps === 0) return { pivot, order: "ascending" };
    return { pivot, order: this.swaps === ALL_SWAPPED ? "descending" : "unknown" };
  }

  private median(a: number, b: number, c: number): number {
    let [low, middle, high] = [a, b, c];
    [low, middle] = this.ordered(low, middle);
    [middle, high] = this.ordered(middle, high);
    [low, middle] = this.ordered(low, middle);
    return middle;
  }

  private ordered(a: number, b: number): [number, number] {
    if (!this.isLess(b, a)) return [a, b];
    this.swaps++;
    return [b, a];
  }
}
