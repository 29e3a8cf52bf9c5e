/**
 * Keeps a webhook that does not answer from slowing down every write. After some failures in a row, calls are skipped for
 * a while that doubles with each further failure. Only for webhooks whose failures are ignored: skipping one is the
 * same failure, without the wait.
 */
import type { Clock } from "@flotilla/base";

const FAILURES_BEFORE_PAUSE = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export class WebhookBreaker {
  readonly #clock: Pick<Clock, "now">;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Whether the call is to be skipped. The first call after a pause is made, and decides what follows. */
  shouldSkip(): boolean {
    const now = this.#clock.now();
    if (!this.isOnTrial) return false;
    if (now < this.#pausedUntilMs) return true;
    // Others are skipped until this one has an answer.
    this.#pausedUntilMs = now + this.#pauseMs();
    return false;
  }

  /** Whether a call that is made now decides if further calls are made. */
  get isOnTrial(): boolean {
    return this.#failures >= FAILURES_BEFORE_PAUSE;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures++;
    if (this.#failures >= FAILURES_BEFORE_PAUSE) this.#pausedUntilMs = this.#clock.now() + this.#pauseMs();
  }

  /** How many calls failed since the last success. */
  get failures(): number {
    return this.#failures;
  }

  #pauseMs(): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - FAILURES_BEFORE_PAUSE), LONGEST_PAUSE_MS);
  }
}
