/**
 * Keeps a webhook that does not answer from slowing down every write. Once it opens, calls are skipped, and probes in the
 * background find out when the webhook answers again: no request waits for them. Only for webhooks whose failures are
 * ignored: skipping one is the same failure, without the wait.
 */
import type { Clock, Timer } from "@flotilla/base";

/** Failures that take no time, such as a refused connection. */
const FAILURES_BEFORE_OPEN = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export interface BreakerSettings<Sample> {
  clock: Clock;
  /** Asks the webhook about a request that it missed. Rejects when it does not answer. */
  probe(sample: Sample): Promise<unknown>;
  /** Calls are skipped from now on: ends those that wait for an answer. */
  onOpen?(): void;
  /** A probe was answered. */
  onClose?(): void;
}

export interface FailedCall<Sample> {
  startedMs: number;
  /** Whether the whole time limit passed without an answer. */
  isTimeout: boolean;
  /** What a probe asks; unset where failures are not ignored, and the breaker never opens. */
  sample: Sample | undefined;
}

interface Open<Sample> {
  sample: Sample;
  /**
   * Whether the next skipped request replaces the sample: its request may be the only one that gets no answer. While the first
   * probe of a round runs, the other request is asked about at once.
   */
  isWanted: boolean;
  /** Probes that have no result yet. */
  running: number;
  pauseMs: number;
  timer: Timer | undefined;
}

export class WebhookBreaker<Sample> {
  readonly #settings: BreakerSettings<Sample>;
  #failures = 0;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #open: Open<Sample> | undefined;
  #isRetired = false;

  constructor(settings: BreakerSettings<Sample>) {
    this.#settings = settings;
  }

  /** Whether calls are to be skipped. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Whether the next probe should ask about a request that is skipped now. */
  get wantsSample(): boolean {
    return this.#open?.isWanted === true;
  }

  /** How many calls failed since the last answer. */
  get failures(): number {
    return this.#failures;
  }

  answered(): void {
    this.#failures = 0;
    this.#answeredMs = this.#settings.clock.now();
    this.#open?.timer?.cancel();
    this.#open = undefined;
  }

  failed({ startedMs, isTimeout, sample }: FailedCall<Sample>): void {
    this.#failures++;
    if (sample === undefined || this.#open || this.#isRetired) return;
    // One timeout is enough, unless others were answered meanwhile: then only this request is slow.
    const isSilent = isTimeout && this.#answeredMs < startedMs;
    if (!isSilent && this.#failures < FAILURES_BEFORE_OPEN) return;
    this.#open = { sample, isWanted: isSilent, running: 0, pauseMs: FIRST_PAUSE_MS, timer: undefined };
    this.#settings.onOpen?.();
    // A webhook that was slow once, or a server that was, is asked again at once.
    this.#probeAfter(this.#open, isSilent ? 0 : FIRST_PAUSE_MS);
  }

  /** A request that was skipped, for the next probe. */
  keep(sample: Sample): void {
    const open = this.#open;
    if (!open) return;
    open.sample = sample;
    open.isWanted = false;
    if (open.running > 0) this.#probe(open);
  }

  /** The webhook is no longer configured. */
  retire(): void {
    this.#isRetired = true;
    this.#open?.timer?.cancel();
    this.#open = undefined;
  }

  #probeAfter(open: Open<Sample>, pauseMs: number): void {
    open.timer = this.#settings.clock.after(pauseMs, () => {
      open.timer = undefined;
      open.isWanted = true;
      this.#probe(open);
    });
  }

  #probe(open: Open<Sample>): void {
    open.running++;
    this.#settings.probe(open.sample).then(
      () => {
        if (this.#open !== open) return;
        this.answered();
        this.#settings.onClose?.();
      },
      () => {
        open.running--;
        if (this.#open !== open) return;
        this.#failures++;
        if (open.running > 0) return;
        this.#probeAfter(open, open.pauseMs);
        open.pauseMs = Math.min(open.pauseMs * 2, LONGEST_PAUSE_MS);
      },
    );
  }
}
