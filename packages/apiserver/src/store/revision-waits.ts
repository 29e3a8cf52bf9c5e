/** Promises for revisions that are not visible yet, ordered by revision. */
interface Wait {
  revision: number;
  resolve(): void;
  reject(error: Error): void;
}

export class RevisionWaits {
  readonly #waits: Wait[] = [];

  get size(): number {
    return this.#waits.length;
  }

  /**
   * Resolves once `reached` is called with this revision or a later one; rejects on `fail`, or with the signal's
   * reason.
   */
  until(revision: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { revision, resolve, reject };
      if (signal) this.#endOn(signal, wait);
      // Writers wait for revisions roughly in the order in which they were assigned, so the position is near the end.
      let at = this.#waits.length;
      while (at > 0 && (this.#waits[at - 1] as Wait).revision > revision) at--;
      this.#waits.splice(at, 0, wait);
    });
  }

  reached(revision: number): void {
    let count = 0;
    while (count < this.#waits.length && (this.#waits[count] as Wait).revision <= revision) count++;
    if (count > 0) for (const { resolve } of this.#waits.splice(0, count)) resolve();
  }

  fail(error: Error): void {
    for (const { reject } of this.#waits.splice(0)) reject(error);
  }

  /** The listener is removed with the wait: signals last as long as the server, waits for milliseconds. */
  #endOn(signal: AbortSignal, wait: Wait): void {
    const { resolve, reject } = wait;
    const stop = (): void => {
      this.#waits.splice(this.#waits.indexOf(wait), 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
    wait.resolve = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    wait.reject = (error) => {
      signal.removeEventListener("abort", stop);
      reject(error);
    };
  }
}
