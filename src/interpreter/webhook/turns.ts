/**
 * Turns at something that does only so much at a time: the rest waits in order, and no more waits than has a chance.
 */
import { WebhookError } from "./webhook-error.ts";

export class Turns {
  readonly #waiting = new Set<() => void>();
  readonly #maxWaiting: number;
  #free: number;

  constructor(atOnce: number, maxWaiting: number) {
    this.#free = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves with what gives the turn back; rejects with the signal's reason when that comes first. */
  async take(stop: AbortSignal): Promise<() => void> {
    stop.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(stop);
    return () => this.#next();
  }

  #wait(stop: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting)
      throw new WebhookError("overload", `${this.#maxWaiting} calls wait for it already`);
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

  /** A turn goes from hand to hand, so that nobody who comes later takes it in between. */
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
