/** A semaphore with a bounded queue: limits concurrency, and queues the rest in order up to a limit. */
import { WebhookError } from "@flotilla/client";

export class Semaphore {
  readonly #waiting = new Set<() => void>();
  readonly #maxWaiting: number;
  #free: number;

  constructor(atOnce: number, maxWaiting: number) {
    this.#free = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves with a function that releases the turn; rejects with the signal's reason if that comes first. */
  async take(stop: AbortSignal): Promise<() => void> {
    stop.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(stop);
    return () => this.#next();
  }

  #wait(stop: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting)
      throw new WebhookError("overload", `${this.#maxWaiting} calls are already waiting for it`);
    return new Promise((resolve, reject) => {
      const go = (): void => {
        stop.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(go);
        reject(stop.reason as Error);
      };
      this.#waiting.add(go);
      stop.addEventListener("abort", leave, { once: true });
    });
  }

  /** A released turn is passed directly to the next waiter, so that a later caller cannot take it in between. */
  #next(): void {
    const [first] = this.#waiting;
    if (!first) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(first);
    first();
  }
}
