/**
 * A check that many callers need at once and that costs a round trip. A check that is in progress may have been decided
 * before a caller asked, so callers that come meanwhile share the next one.
 */
export class SharedCheck {
  readonly #check: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** Resolves when a check that began after this call has succeeded; rejects with its error. */
  run(): Promise<void> {
    if (!this.#running) return this.#begin();
    const begin = (): Promise<void> => {
      this.#next = undefined;
      return this.#begin();
    };
    return (this.#next ??= this.#running.then(begin, begin));
  }

  #begin(): Promise<void> {
    const running = this.#check().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return (this.#running = running);
  }
}
