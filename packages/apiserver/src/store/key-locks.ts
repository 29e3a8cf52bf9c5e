/** Serializes work per key, first come, first served. An unused key leaves nothing behind. */
export class KeyLocks {
  /** Waiters for the key; the holder itself is not among them. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Number of held keys. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Requesting the same key from within `work` deadlocks. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#waiting.get(key);
    if (queue) await new Promise<void>((resolve) => queue.push(resolve));
    else this.#waiting.set(key, []);
    try {
      return await work();
    } finally {
      const next = this.#waiting.get(key)?.shift();
      if (next) next();
      else this.#waiting.delete(key);
    }
  }
}
