/**
 * Circuit breaker: keeps a script that repeatedly exceeds its limits off the main thread.
 *
 * Three overruns in a row trip it: one or two may be a busy machine or one odd object, three cost some 150 ms of the
 * main thread. A tripped script runs elsewhere. After a minute one call is tried in the process again; if that overruns
 * too, the wait doubles, up to an hour, so that a script that never ends takes less than a thousandth of the process.
 */
import type { Clock } from "@flotilla/base";

const OVERRUNS_TO_TRIP = 3;
export const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 3_600_000;

export type BreakerState = "in-process" | "quarantined";

export class Breaker {
  state: BreakerState = "in-process";
  readonly #clock: Clock;
  readonly #onChange: (state: BreakerState) => void;
  #overruns = 0;
  #retryMs = FIRST_RETRY_MS;
  #retryAt = 0;

  constructor(clock: Clock, onChange: (state: BreakerState) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Whether the next call may run in the process; if tripped, true once per wait. */
  admits(): boolean {
    if (this.state === "in-process") return true;
    if (this.#clock.now() < this.#retryAt) return false;
    this.#retryAt = this.#clock.now() + this.#retryMs;
    return true;
  }

  /** A call in the process finished within its limits, with a result or with its own error. */
  ended(): void {
    this.#overruns = 0;
    if (this.state === "in-process") return;
    this.#retryMs = FIRST_RETRY_MS;
    this.#change("in-process");
  }

  /** A call in the process was stopped by a limit. */
  overran(): void {
    if (this.state === "quarantined") {
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      this.#retryAt = this.#clock.now() + this.#retryMs;
      return;
    }
    if (++this.#overruns < OVERRUNS_TO_TRIP) return;
    this.#retryAt = this.#clock.now() + this.#retryMs;
    this.#change("quarantined");
  }

  #change(state: BreakerState): void {
    this.state = state;
    this.#overruns = 0;
    this.#onChange(state);
  }
}
