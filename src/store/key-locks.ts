/** One piece of work at a time per key, first come first served. A key that nobody works on leaves nothing behind. */
export class KeyLocks {
  /** Those who wait for the key; the holder itself is not among them. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** How many keys are held. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Asking for the key again from within `work` waits for ever. */
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
