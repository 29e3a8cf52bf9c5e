/**
 * Entries in key order with cheap insert, delete and prefix ranges: an array of sorted chunks.
 *
 * A search is two binary searches, a change moves at most one chunk's worth of pointers, and a million entries need a
 * few thousand chunks, so splitting one is cheap too. An entry costs nothing besides the pointer in its chunk, and no
 * structure ever has to be rebuilt at once, as a large Map must be when it grows.
 */
const MAX_CHUNK = 256;
/**
 * A chunk below this size is merged with its neighbour when both fit into half a chunk, so that mass deletion leaves
 * few chunks.
 */
const MIN_CHUNK = 32;

export interface Keyed {
  readonly key: string;
}

interface Position {
  chunk: number;
  index: number;
}

export class SortedEntries<E extends Keyed> {
  readonly #chunks: E[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): E | undefined {
    const { chunk, index } = this.#seek(key);
    const found = this.#chunks[chunk]?.[index];
    return found?.key === key ? found : undefined;
  }

  /** Adds the entry, or replaces the one with its key. */
  set(entry: E): void {
    const { chunk: at, index } = this.#seek(entry.key);
    const chunk = this.#chunks[at];
    if (chunk?.[index]?.key === entry.key) {
      chunk[index] = entry;
      return;
    }
    this.#size += 1;
    if (chunk) {
      chunk.splice(index, 0, entry);
      if (chunk.length > MAX_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK >>> 1));
      return;
    }
    // Beyond the last key. Filling the last chunk completely keeps a load in key order compact.
    const last = this.#chunks.at(-1);
    if (last && last.length < MAX_CHUNK) last.push(entry);
    else this.#chunks.push([entry]);
  }

  delete(key: string): void {
    const { chunk: at, index } = this.#seek(key);
    const chunk = this.#chunks[at];
    if (chunk?.[index]?.key !== key) return;
    this.#size -= 1;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    else if (chunk.length < MIN_CHUNK && !this.#join(at)) this.#join(at - 1);
  }

  /** Entries under `prefix` in key order; only those after the key `after`, at most `limit`. */
  list(
    prefix: string,
    { after, limit = Infinity }: { after?: string | undefined; limit?: number | undefined } = {},
  ): E[] {
    const found: E[] = [];
    const start = after !== undefined && after > prefix ? after : prefix;
    let { chunk: at, index } = this.#seek(start);
    if (this.#chunks[at]?.[index]?.key === after) index += 1;
    for (; at < this.#chunks.length && found.length < limit; at++, index = 0) {
      const chunk = this.#chunks[at] as E[];
      const end = endOf(prefix, chunk, index);
      const stop = Math.min(end, index + limit - found.length);
      for (; index < stop; index++) found.push(chunk[index] as E);
      if (end < chunk.length) break;
    }
    return found;
  }

  /** Number of entries under `prefix`. */
  count(prefix: string): number {
    let total = 0;
    let { chunk: at, index } = this.#seek(prefix);
    for (; at < this.#chunks.length; at++, index = 0) {
      const chunk = this.#chunks[at] as E[];
      const end = endOf(prefix, chunk, index);
      total += end - index;
      if (end < chunk.length) break;
    }
    return total;
  }

  /** The position of the first key that is not less than `key`. */
  #seek(key: string): Position {
    const chunk = firstIndex(this.#chunks, 0, (candidate) => (candidate.at(-1) as E).key >= key);
    const entries = this.#chunks[chunk];
    return { chunk, index: entries ? firstIndex(entries, 0, (entry) => entry.key >= key) : 0 };
  }

  #join(at: number): boolean {
    const left = this.#chunks[at];
    const right = this.#chunks[at + 1];
    if (!left || !right || left.length + right.length > MAX_CHUNK >>> 1) return false;
    left.push(...right);
    this.#chunks.splice(at + 1, 1);
    return true;
  }
}

/**
 * Where the entries under `prefix` end in a chunk. Checking the last key is enough for all but the last chunk of a
 * range.
 */
function endOf(prefix: string, chunk: readonly Keyed[], from: number): number {
  if (chunk.at(-1)?.key.startsWith(prefix)) return chunk.length;
  return firstIndex(chunk, from, ({ key }) => !key.startsWith(prefix));
}

/** The first index from `from` on for which `holds`, which must hold for all following items. */
function firstIndex<T>(items: readonly T[], from: number, holds: (item: T) => boolean): number {
  let low = from;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
