/**
 * After how many seconds a rejected client should try again: one, doubled while rejections go on, as in Kubernetes. Clients
 * that come back too early only fill the queues again.
 */

const MAX_SECONDS = 32;
/** So many rejections for each second of the header double it; fewer than one for each second shorten it. */
const MANY_PER_SECOND = 3;

export class RetryAfter {
  /** What the header says now. */
  seconds = 1;
  /** Rejections by second, oldest first, not older than a header can be. */
  readonly #history: { second: number; count: number }[] = [];
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** A request was rejected. */
  note(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const last = this.#history.at(-1);
    if (last?.second === second) {
      last.count++;
      return;
    }
    this.#adjust(second);
    this.#history.push({ second, count: 1 });
    while ((this.#history[0]?.second ?? second) < second - MAX_SECONDS) this.#history.shift();
  }

  /** By the rejections of the last seconds; the current one has only begun. */
  #adjust(second: number): void {
    let rejected = 0;
    for (const each of this.#history) if (second - each.second <= this.seconds) rejected += each.count;
    if (second - this.#raisedAt >= this.seconds && rejected >= MANY_PER_SECOND * this.seconds) {
      this.seconds = Math.min(MAX_SECONDS, 2 * this.seconds);
      this.#raisedAt = second;
    } else if (rejected < this.seconds && this.seconds > 1) this.seconds--;
  }
}
